# The inner loops are compiled with flags that older processors cannot run. The linker keeps only one
# copy of an inline function, so every function that these objects share with others must belong to the
# namespace of their instruction set.  usage: loop_symbols.sh PROGRAM SOURCE_FOLDER
set -euo pipefail
command -v nm >/dev/null || { echo "skipped: nm is not installed"; exit 77; }
build=$(dirname "$1")

# Prints the functions that an object defines for others outside the namespace ralimp::cpu::LEVEL.
strangers() {
    nm --demangle --defined-only "$1" | grep -E '^[0-9a-f]+ [TWwi] ' |
        grep -vE "ralimp::cpu::$2::" || true
}

# The check itself must see what it looks for.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
cat >"$planted/planted.cpp" <<'END'
template <class T> T planted(T x) { return x + 1; }
template int planted(int);
namespace ralimp::cpu::avx2 { int fine() { return 1; } }
END
"${CXX:-c++}" -c "$planted/planted.cpp" -o "$planted/planted.o"
[[ $(strangers "$planted/planted.o" avx2) == *"planted<int>"* ]]
[[ $(strangers "$planted/planted.o" avx2 | wc -l) == 1 ]]

objects=0
for folder in "$build"/CMakeFiles/ralimp_loops_*.dir; do
    level=${folder##*ralimp_loops_}
    level=${level%.dir}
    while read -r object; do
        objects=$((objects + 1))
        found=$(strangers "$object" "$level")
        [[ -z $found ]] || { echo "$object defines functions outside ralimp::cpu::$level:"; echo "$found"; exit 1; }
    done < <(find "$folder" -name '*.o')
done
((objects >= 8)) || { echo "only $objects objects found under $build/CMakeFiles"; exit 1; }
echo "$objects objects"

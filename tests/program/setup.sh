# scripts/setup with a pretended package system: installs exactly what is missing, is silent when
# nothing is, and explains itself when it cannot.  usage: setup.sh PROGRAM SOURCE_FOLDER
set -euo pipefail
source_folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"

if ! grep -qE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release 2>/dev/null; then
    echo "skipped: this is not Debian or Ubuntu"
    exit 77
fi

# The only programs that the script finds: a few real ones and these.
for program in bash cat env mktemp rm tail; do
    ln -s "$(command -v $program)" "$work/bin/$program"
done
cat >"$work/bin/dpkg-query" <<'END'
#!/usr/bin/env bash
# Everything asked for is installed but what the file "missing" names.
for word in "$@"; do
    [[ $word == -* || " $(cat "$WORK/missing") " == *" $word "* ]] || echo "$word installed"
done
exit 1
END
cat >"$work/bin/apt-get" <<'END'
#!/usr/bin/env bash
echo "$DEBIAN_FRONTEND $*" >>"$WORK/calls"
[[ " $* " == *" $(cat "$WORK/failing") "* ]] && { echo "E: no network"; exit 100; }
[[ " $* " == *" install "* ]] && : >"$WORK/missing"
exit 0
END
cat >"$work/bin/sudo" <<'END'
#!/usr/bin/env bash
exec "$@"
END
chmod +x "$work"/bin/{dpkg-query,apt-get,sudo}

run() {
    : >"$work/calls"
    set +e
    output=$(env -i PATH="$work/bin" WORK="$work" "$source_folder/scripts/setup" "$@" 2>&1)
    status=$?
    set -e
}
fail() {
    printf '%s\noutput: %s\ncalls: %s\n' "$1" "$output" "$(cat "$work/calls")"
    exit 1
}
# Whether the output or the calls have the text.
says() { [[ $output == *"$1"* ]] || fail "expected in the output: $1"; }
called() { grep -qF -- "$1" "$work/calls" || fail "expected call: $1"; }

echo none >"$work/failing"

echo >"$work/missing"
run
[[ $status == 0 && -z $output && ! -s $work/calls ]] || fail "it is not silent when all is there"
run --tests
[[ $status == 0 && -z $output ]] || fail "it is not silent with --tests"

echo clang-format >"$work/missing"
run
[[ $status == 0 && -z $output ]] || fail "the program does not need clang-format"
run --tests
[[ $status == 0 ]] || fail "installing failed"
says "Installing 1 missing packages: clang-format"

echo clang >"$work/missing"
run --tests
[[ $status == 0 && -z $output ]] || fail "the tests do not need clang"
run --tests --fuzz
[[ $status == 0 ]] || fail "installing failed"
says "Installing 1 missing packages: clang"

echo "cmake libsleef-dev" >"$work/missing"
run
[[ $status == 0 ]] || fail "installing failed"
says "Installing 2 missing packages: cmake libsleef-dev"
called "noninteractive -o DPkg::Lock::Timeout=300 update"
called "install --yes --no-install-recommends cmake libsleef-dev"

# A list that cannot be fetched is told, and does not stop it.
echo "cmake" >"$work/missing"
echo update >"$work/failing"
run
[[ $status == 0 ]] || fail "a failing update must not stop it"
says "apt-get update failed"

echo "cmake" >"$work/missing"
echo install >"$work/failing"
run
[[ $status == 1 ]] || fail "a failing installation must stop it"
says "E: no network"
says "by hand, install: cmake"

echo "cmake" >"$work/missing"
rm "$work/bin/apt-get"
run
[[ $status == 1 ]] || fail "without apt-get it must stop"
says "apt-get was not found"
says "by hand, install: cmake"

run --wrong
[[ $status == 2 ]] || fail "unknown arguments must be refused"

# Every library that the build asks for is installed by some package of the list.
declare -A package_of=(
    [fmt]=libfmt-dev [OpenMP]=g++ [Eigen3]=libeigen3-dev [yaml-cpp]=libyaml-cpp-dev
    [CLI11]=libcli11-dev [nlohmann_json]=nlohmann-json3-dev [PNG]=libpng-dev
    [JPEG]=libjpeg62-turbo-dev [PkgConfig]=pkg-config [GTest]=libgtest-dev
    [openblas]=libopenblas-openmp-dev [hdf5]=libhdf5-dev [libxxhash]=libxxhash-dev
    [sleef]=libsleef-dev [onnx]=libonnx-dev [onnx_proto]=libonnx-dev [protobuf]=libprotobuf-dev
)
wanted=$(cat "$source_folder/CMakeLists.txt" "$source_folder"/*/CMakeLists.txt |
    sed -nE 's/^ *find_package\(([A-Za-z0-9_-]+).*REQUIRED.*/\1/p
             s/^ *pkg_check_modules\([A-Z0-9_]+ REQUIRED IMPORTED_TARGET ([a-z0-9_-]+).*/\1/p
             s/^ *find_library\([A-Z_]+ ([a-z0-9_-]+) REQUIRED.*/\1/p')
count=0
for library in $wanted; do
    package=${package_of[$library]:-}
    [[ -n $package ]] || { echo "which package has $library? add it to scripts/setup and here"; exit 1; }
    grep -qw -- "$package" "$source_folder/scripts/setup" ||
        { echo "scripts/setup does not install $package, for $library"; exit 1; }
    count=$((count + 1))
done
((count >= 12)) || { echo "only $count libraries found in the CMake files"; exit 1; }

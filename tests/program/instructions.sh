# How many instructions one loss with its gradient takes, on one thread with AVX2: within 5 % of what
# instructions.txt says. A guard against slow code that does not depend on what else the machine does.
# Where a change is meant to change them, and to write down better ones:
#   tests/program/instructions.sh build/ralimp . --write
# usage: instructions.sh PROGRAM SOURCE_FOLDER
program=$(realpath "$1")
folder=$(realpath "$2")
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$program" "$folder"
table=$folder/tests/program/instructions.txt

skip() {
    echo "skipped: $1"
    exit 77
}
command -v valgrind >/dev/null || skip "valgrind is not installed"
[[ $(ldd "$ralimp") == *libasan* ]] && skip "a build with sanitizers"
grep -qw avx2 /proc/cpuinfo || skip "this processor has no AVX2"
# Other compilers and libraries make other code. The first is ours; the CUDA runtime brings others.
compilers=$(grep -aom1 'GCC: ([^)]*) [0-9.]*' "$ralimp")
made_by="${compilers%%$'\n'*} $(ldd "$ralimp" |
    grep -oE '^[[:space:]]*(libopenblas|libsleef|libc)\.so[^ ]*' | sort | xargs), $(valgrind --version)"
if [[ ${3:-} != --write ]]; then
    wanted=$(sed -n 's/^# made by //p' "$table")
    [[ $made_by == "$wanted" ]] || skip "the counts are of $wanted; this is $made_by"
fi

declare -A counts
count() { # NAME CONFIG CHANGES…
    expect 0 env RALIMP_SIMD=avx2 OPENBLAS_CORETYPE=Haswell valgrind --tool=callgrind \
        --toggle-collect='ralimp::evaluate_objective(ralimp::LossParts const&, ralimp::Parameters const&)' \
        --callgrind-out-file=callgrind.out \
        "$ralimp" train "$folder/tests/bench/work/$2.yaml" --check threads=1 "${@:3}"
    counts[$1]=$(sed -n 's/^totals: //p' callgrind.out)
}
grid='evaluation.grid=[8, 8]'
count burgers burgers "$grid" points.residual=1000
count burgers_float64 burgers "$grid" points.residual=1000 precision=float64
count third_derivative kdv "$grid" points.residual=1000
count burgers_ralimp burgers_ralimp "$grid" points.residual=1000
count burgers_symmetric burgers_ralimp "$grid" points.residual=1000 network.hidden.split=symmetric
# One where nothing is fused but the features, and one of wide layers.
count burgers_own_rows burgers_ralimp "$grid" points.residual=1000 network.hidden.share_rows=false
count siren siren 'data.size=[24, 24]'

if [[ ${3:-} == --write ]]; then
    {
        echo "# Instructions of one loss with its gradient; see instructions.sh."
        echo "# made by $made_by"
        for name in "${!counts[@]}"; do echo "$name ${counts[$name]}"; done | sort
    } >"$table"
    cat "$table"
    exit 0
fi
for name in "${!counts[@]}"; do
    before=$(sed -n "s/^$name //p" "$table")
    now=${counts[$name]}
    ((now > 1000000 && before > 0)) || { complain "$name: no count: '$now', before '$before'"; continue; }
    echo "$name: $now instructions, $((now * 100 / before)) % of $before"
    ((now * 100 <= before * 105)) || complain "$name takes more than 5 % more instructions"
    ((now * 100 >= before * 95)) || complain "$name takes 5 % fewer: write the better count down"
done
finish

# For the scripts beside it: the program on small configs, and what to expect of it.
# usage: source run.bash PROGRAM SOURCE_FOLDER
set -uo pipefail
ralimp=$1
source_folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export OMP_WAIT_POLICY=passive
unset RALIMP_DATA
failures=0

complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

finish() {
    ((failures == 0)) || exit 1
}

# Small configs; more arguments may set what stands not here.
tiny_pinn=("$source_folder/configs/pinn/burgers_quick.yaml" network.width=8 network.hidden_layers=2
    points.residual=200 'evaluation.grid=[16, 10]')
tiny_siren=("$source_folder/configs/siren/quick.yaml" network.width=8 network.hidden_layers=2
    'data.size=[12, 15]')
tiny_sdf=("$source_folder/configs/siren/sdf_quick.yaml" network.width=16 network.hidden_layers=2
    training.phases.0.optimizer.learning_rate=1e-2 points.surface=64 points.off_surface=64 evaluation.points=200)
tiny_layer=("$source_folder/configs/layer/synthetic.yaml" network.width=8 data.train=64 data.test=32)

# expect CODE COMMAND…: that exit code; the output is in out.txt and err.txt.
expect() {
    local wanted=$1 code
    shift
    "$@" >out.txt 2>err.txt
    code=$?
    if ((code != wanted)); then
        complain "exit code $code, not $wanted: $*"
        tail -n 5 out.txt err.txt
    fi
}

# expect_error CODE PATTERN COMMAND…: that exit code and exactly one line on standard error, which
# has no control character.
expect_error() {
    local wanted=$1 pattern=$2
    shift 2
    expect "$wanted" "$@"
    if (($(wc -l <err.txt) != 1)) || ! grep -qE -- "$pattern" err.txt; then
        complain "not one line with '$pattern' on standard error: $*"
        cat err.txt
    fi
    if LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' err.txt; then
        complain "a control character on standard error: $*"
        cat -v err.txt
    fi
}

expect_text() { # FILE PATTERN
    grep -qE -- "$2" "$1" || { complain "$1 has no '$2'"; tail -n 5 "$1"; }
}

# The tensors of the newest checkpoint and the metrics without the seconds.
state_of() {
    local newest
    newest=$(printf '%s\n' "$1"/checkpoints/step-*.h5 | tail -1)
    "$ralimp" inspect "$newest" | sed '/^config:/,$d' | grep -E '^  ' | grep -vE '^  seconds '
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "seconds") skip = i }
             { for (i = 1; i <= NF; ++i) if (i != skip) printf "%s,", $i; print "" }' \
        "$1/metrics.csv"
    grep -vE '"(seconds|steps_per_second|peak_memory_bytes)"' "$1/result.json"
}

expect_same_state() { # FOLDER FOLDER
    state_of "$1" >one.txt
    state_of "$2" >two.txt
    [[ -s one.txt ]] || complain "$1 has no state"
    diff one.txt two.txt >difference.txt || { complain "$1 and $2 differ"; head -20 difference.txt; }
}

# start COMMAND…: in the background as $process, its output in out.txt and err.txt. For until_true
# and send after it.
start() {
    : >out.txt  # what until_true looks for must not be of the command before
    : >err.txt
    set -m  # or the shell would let its background processes ignore SIGINT
    "$@" >out.txt 2>err.txt &
    process=$!
    set +m
}

# until_true COMMAND…: waits for it to succeed, for two minutes, as long as the process is there.
until_true() {
    local i
    for ((i = 0; i < 1200; ++i)); do
        "$@" && return
        kill -0 $process 2>/dev/null || break
        sleep 0.1
    done
    complain "not seen: $*"
}

# send SIGNAL CODE: ends the process, which is to have that exit code then.
send() {
    local code
    kill -"$1" $process
    { wait $process; } 2>/dev/null
    code=$?
    ((code == $2)) || complain "exit code $code, not $2, after $1: $(cat err.txt)"
}

# Signals at every stage: exit code 6 with the state saved, and the run goes on as if nothing had
# been. A kill loses only the steps since the last checkpoint.  usage: signals.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"

set -m  # or the shell would let its background processes ignore SIGINT

# No pictures: they take longer than all the rest.
quiet_path=$work/programs
mkdir "$quiet_path"
quiet() { PATH=$quiet_path "$ralimp" "$@"; }

# wait_for FILE PATTERN
wait_for() {
    for ((i = 0; i < 20000; ++i)); do
        grep -qsE -- "$2" "$1" && return
        sleep 0.01
    done
    complain "'$2' never came in $1"
}

# interrupted SIGNAL FILE PATTERN ARGUMENTS…: trains, sends the signal once the pattern is there.
interrupted() {
    local signal=$1 file=$2 pattern=$3 code
    shift 3
    PATH=$quiet_path "$ralimp" train "$@" >out.txt 2>err.txt &
    local process=$!
    wait_for "$file" "$pattern"
    kill "-$signal" $process
    wait $process
    code=$?
    if ((code != 6)); then
        complain "exit code $code after $signal: $*"
        tail -n 5 out.txt err.txt
    fi
    [[ ! -s err.txt ]] || { complain "standard error is not empty"; cat err.txt; }
    expect_text out.txt "^interrupted by SIG$signal at step [0-9]+; the state is saved in "
}

# Steps of milliseconds, so that a signal finds the run under way on a fast machine too.
config=("${tiny_pinn[@]:0:1}" network.width=16 network.hidden_layers=3 points.residual=3000
    'evaluation.grid=[16, 10]' training.phases.0.steps=300 training.phases.1.steps=60 training.log_every=7 training.checkpoint_every=30 training.evaluate_every=50)
expect 0 quiet train "${config[@]}" --output straight

# While training, twice.
interrupted TERM cut/metrics.csv '^70,' "${config[@]}" --output cut
expect_text cut/result.json '"stopped_by": "interrupted"'
expect 0 "$ralimp" inspect cut
expect_text out.txt 'not finished'
expect 0 "$ralimp" evaluate cut
interrupted INT cut/metrics.csv '^140,' "${config[@]}" --output cut
expect 0 quiet train "${config[@]}" --output cut
expect_same_state straight cut

# In the first step, which is a long one; then as the message says.
slow=("${tiny_pinn[@]:0:1}" network.width=32 network.hidden_layers=4 points.residual=100000
    'evaluation.grid=[16, 10]' training.phases.0.steps=2 training.phases.1.steps=1)
interrupted TERM first/log.txt 'trained parameters' "${slow[@]}" --output first
expect_text out.txt 'interrupted by SIGTERM at step 1;'
command=$(grep -oE 'ralimp train first/config.yaml --output first$' out.txt)
expect 0 quiet ${command#ralimp }
expect 0 quiet train "${slow[@]}" --output first-straight
expect_same_state first-straight first

# In an evaluation that takes many seconds; the run goes on with a smaller one.
huge=("${tiny_pinn[@]:0:4}" training.phases.0.steps=20 training.phases.1.steps=5
    training.evaluate_every=10 training.log_every=1)
started=$(date +%s)
interrupted INT huge/log.txt '^step 9/' "${huge[@]}" 'evaluation.grid=[4096, 2048]' --output huge
expect_text out.txt 'interrupted by SIGINT at step (9|10);'
(($(date +%s) - started < 240)) || complain "an evaluation was not cut short"
expect 0 quiet train "${huge[@]}" 'evaluation.grid=[8, 6]' --output huge
expect 0 quiet train "${huge[@]}" 'evaluation.grid=[8, 6]' --output huge-straight
expect_same_state huge-straight huge

# Before the first step, and in the commands on a run: they end soon and leave nothing behind.
# cut_short SECONDS ARGUMENTS…: a command that would take minutes ends within these, a moment after it
# began to heed signals.
cut_short() {
    local within=$1 process started code mask
    shift
    PATH=$quiet_path "$ralimp" "$@" >out.txt 2>err.txt &
    process=$!
    for ((i = 0; i < 3000; ++i)); do
        mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$process/status)
        ((16#${mask:-0} >> 14 & 1)) && break  # SIGTERM is caught
        sleep 0.01
    done
    sleep 0.3
    started=$(date +%s)
    kill -TERM $process
    wait $process
    code=$?
    ((code == 6)) || { complain "exit code $code after TERM: $*"; tail -n 5 err.txt; }
    (($(date +%s) - started <= within)) || complain "not cut short: $*"
}
expect 0 quiet train "${tiny_siren[@]}" training.phases.0.steps=2 --output image
cut_short 120 train "${tiny_pinn[@]:0:1}" points.residual=1000000 points.sampler=sobol \
    'evaluation.grid=[4000, 4000]' --output early
cut_short 120 evaluate straight --grid 4000x4000
cut_short 120 predict straight --grid 4000x4000 --output big.h5
cut_short 120 render image --size 11000x11000
# The start of RaLiMP layers: the drawing of their rows, the choice of nodes, least squares.
for layer in 'psi: weights, features: 200000' 'nodes: optimized, nodes_per_atom: 64, pole_pairs: 16' \
    'psi: free, features: 2000'; do
    cut_short 4 train "$source_folder/configs/siren/quick.yaml" network.width=20 \
        network.hidden_layers=40 "network.hidden={kind: ralimp, $layer}" --output early
done
[[ ! -e early && ! -e big.h5 && ! -e image/pictures/reconstruction_11000x11000.png ]] ||
    complain "what was cut short left a file"

# An export of many minutes ends at once and leaves no file.
expect 0 quiet train "${tiny_sdf[@]}" training.phases.0.steps=2 --output solid
PATH=$quiet_path "$ralimp" export solid --resolution 900 >export.txt 2>err.txt &
process=$!
wait_for export.txt '^900 x 900 x 900 cubes'
started=$(date +%s)
kill -INT $process
wait $process
code=$?
((code == 6)) || complain "exit code $code of an export after INT"
(($(date +%s) - started < 10)) || complain "an export was not cut short"
[[ ! -e solid/mesh.ply ]] || complain "an export that was cut short left a file"

# Commands that have nothing to save, once they catch signals at all (bits 2 and 15 of the mask).
for signal in INT TERM; do
    "$ralimp" fit tanh repeats=100000 dimension=4000 features=64 >fit.txt 2>err.txt &
    process=$!
    for ((i = 0; i < 3000; ++i)); do
        mask=$(sed -n 's/^SigCgt:\s*//p' /proc/$process/status)
        ((0x${mask:-0} & 0x2 && 0x${mask:-0} & 0x4000)) && break
        sleep 0.01
    done
    kill -$signal $process
    wait $process
    code=$?
    ((code == 6)) || complain "exit code $code of a fit after $signal"
    [[ ! -s err.txt && ! -s fit.txt ]] || complain "a fit that was stopped said: $(cat err.txt fit.txt)"
done

# Killed: no farewell, but the newest checkpoint is whole.
PATH=$quiet_path "$ralimp" train "${config[@]}" --output killed >/dev/null &
process=$!
wait_for killed/metrics.csv '^140,'
kill -9 $process
wait $process 2>/dev/null
expect 0 quiet train "${config[@]}" --output killed
expect_same_state straight killed
if [[ $(ls killed/checkpoints) == *partial* ]]; then complain "a temporary file is left"; fi

# Two processes never write one run.
PATH=$quiet_path "$ralimp" train "${tiny_pinn[@]}" training.phases.0.steps=100000 training.log_every=7 --output shared \
    >/dev/null &
process=$!
wait_for shared/checkpoints/step-00001000.h5 .
expect_error 4 'another process is writing this run' "$ralimp" train shared/config.yaml \
    --output shared
expect 0 "$ralimp" evaluate shared
kill -TERM $process
wait $process

# A reader of the output that goes away is no reason to stop.
quiet train "${config[@]}" --output piped > >(head -2 >/dev/null) ||
    complain "a closed pipe stopped the run"
expect_same_state straight piped

finish

# Kills and stops the program at every call that changes a file, and fills the disk at every write:
# what was saved before is whole, and the run goes on to the very bits of a run that nothing happened
# to.
# usage: faults.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"
library=$(dirname "$ralimp")/tests/libfault_injection.so
[[ -f $library ]] || { echo "$library is missing"; exit 1; }
export ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export OMP_NUM_THREADS=1

# with_fault KIND AT IN COMMAND…
with_fault() {
    local kind=$1 at=$2 in=$3
    shift 3
    FAULT=$kind FAULT_AT=$at FAULT_IN=$in LD_PRELOAD=$library "$@"
}

# Steps, checkpoints (two kept), evaluations that write best.h5, rows, pictures, a result: few calls.
# A SIREN draws its pictures itself; gnuplot would take longer than all the rest.
siren=("$source_folder/configs/siren/quick.yaml" 'data.size=[6, 5]' network.hidden_layers=1
    network.width=4 training.phases.0.steps=4 training.log_every=2 training.checkpoint_every=2
    training.evaluate_every=4)
no_programs=$work/no_programs
mkdir "$no_programs"
train() { PATH=$no_programs "$ralimp" train "${siren[@]}" "$@"; }
here=$work/run

expect 0 train --output straight

# Every kill; the processes after it find either the old file or the new one.
killed=0
for ((call = 0; ; ++call)); do
    rm -rf run
    (with_fault kill $call "$here" train --output "$here") >out.txt 2>err.txt
    code=$?
    ((code == 0)) && break
    ((code == 137)) || { complain "exit code $code, not killed, at call $call"; cat err.txt; break; }
    killed=$((killed + 1))
    for file in run/checkpoints/*.h5; do
        [[ ! -e $file ]] || "$ralimp" inspect "$file" >/dev/null 2>err.txt ||
            complain "after a kill at call $call: $(cat err.txt)"
    done
    expect 0 train --output "$here"
    ! grep -q '^warning: .*skipped' out.txt || complain "after a kill at call $call: $(cat out.txt)"
    expect_same_state straight run
    leftover=$(find run -name '*partial*')
    [[ -z $leftover || $leftover == *config.yaml* ]] || complain "call $call left $leftover"
    ((failures == 0)) || break
done
((killed > 40)) || complain "only $killed calls were killed"

# SIGTERM at each of these moments: in a step, a save, an evaluation, a picture or between them. The
# state is saved, whatever was under way; at the very end there is nothing more to stop.
stopped=0
for ((call = 0; call < killed; ++call)); do
    rm -rf run
    (with_fault stop $call "$here" train --output "$here") >out.txt 2>err.txt
    code=$?
    ((code == 0 || code == 6)) && [[ ! -s err.txt ]] ||
        { complain "exit code $code after SIGTERM at call $call"; cat err.txt; break; }
    if ((code == 6)); then
        stopped=$((stopped + 1))
        expect_text out.txt '^interrupted by SIGTERM at step [0-9]+; the state is saved in '
        expect_text run/result.json '"stopped_by": "interrupted"'
        expect 0 train --output "$here"
        expect_text out.txt 'goes on from step'
    fi
    ! grep -q '^warning: .*skipped' out.txt || complain "after SIGTERM at call $call: $(cat out.txt)"
    expect_same_state straight run
    leftover=$(find run -name '*partial*')
    [[ -z $leftover ]] || complain "SIGTERM at call $call left $leftover"
    ((failures == 0)) || break
done
((stopped > 20)) || complain "only $stopped of $killed runs were stopped"

# A disk that is full from some write on, and stays so.
refused=0
for ((call = 0; ; ++call)); do
    rm -rf run
    (with_fault full $call "$here" train --output "$here") >out.txt 2>err.txt
    code=$?
    ((code == 0)) && break
    if ((code != 4)) || (($(wc -l <err.txt) != 1)) ||
        ! grep -qE '^ralimp: .*: cannot be written: No space left on device' err.txt; then
        complain "a disk full at write $call: exit code $code: $(cat err.txt)"
        break
    fi
    refused=$((refused + 1))
    for file in run/checkpoints/*.h5; do
        [[ ! -e $file ]] || "$ralimp" inspect "$file" >/dev/null 2>err.txt ||
            complain "after a disk full at write $call: $(cat err.txt)"
    done
    leftover=$(find run -name '*partial*')
    [[ -z $leftover ]] || complain "a disk full at write $call left $leftover"
    expect 0 train --output "$here"
    expect_same_state straight run
    ((failures == 0)) || break
done
((refused > 15)) || complain "only $refused writes were refused"

# One file that cannot be written: each says its name; a picture is a warning and no more.
for file in metrics.csv checkpoints/step- checkpoints/best log.txt result.json config.yaml; do
    rm -rf run
    expect_error 4 "$here/$file.*: cannot be written: No space left on device" \
        with_fault full 0 "$here/$file" train --output "$here"
done
rm -rf run
expect 0 with_fault full 0 "$here/pictures" train --output "$here"
expect_text out.txt '^warning: no picture: .*pictures/.*cannot be written: No space left on device'
expect_same_state straight run

finish

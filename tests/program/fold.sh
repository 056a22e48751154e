# ralimp fold on runs of every task: what it writes is checked by the program itself, what it says here.
# usage: fold.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"
mkdir programs  # no pictures
export PATH=$work/programs:$PATH

hidden='network.hidden={kind: ralimp, features: 3, norm: projected}'
for task in pinn siren sdf layer; do
    declare -n config=tiny_$task
    expect 0 "$ralimp" train "${config[@]}" "$hidden" training.phases.0.steps=3 --output "$task"
    expect 0 "$ralimp" fold "$task"
    [[ -s $task/deployed.h5 ]] || complain "$task: no deployed.h5"
    expect_text out.txt 'multiply-adds of an input +[0-9]+, [0-9.]+ % of [0-9]+'
    expect_text out.txt 'forward of  16384 rows'
    expect_text out.txt 'folded against trained on [0-9]+ inputs: RMS [0-9.e-]+'
    expect 0 "$ralimp" inspect "$task/deployed.h5"
    expect_text out.txt 'folded network'
done

expect 0 "$ralimp" fold siren --output elsewhere.h5
[[ -s elsewhere.h5 ]] || complain "no elsewhere.h5"
expect_error 4 'no/such' "$ralimp" fold siren --output no/such/folder.h5
expect_error 3 'not_a_run' "$ralimp" fold not_a_run
# Nor over what the run itself has.
expect_error 2 'is a file of the run itself' "$ralimp" fold siren --output siren/config.yaml
expect_error 2 "among the run's checkpoints" "$ralimp" export siren --format onnx \
    --output siren/checkpoints/step-00000003.h5
expect 0 "$ralimp" evaluate siren

# Features that oscillate, without and with an envelope.
for split in phase_input symmetric; do
    for norm in none projected; do
        expect 0 "$ralimp" train "${tiny_siren[@]}" training.phases.0.steps=2 --output "$split-$norm" \
            "network.hidden={kind: ralimp, features: 4, degree: -1, split: $split, norm: $norm}"
        expect 0 "$ralimp" fold "$split-$norm"
        expect_text out.txt 'folded against trained on [0-9]+ inputs: RMS [0-9.e-]+'
        expect 0 "$ralimp" inspect "$split-$norm/deployed.h5"
        expect_text out.txt '/?network/step_1.rotation'
    done
done

# Polynomials of rows of their own are no chain.
expect 0 "$ralimp" train "${tiny_siren[@]}" 'network.hidden={kind: ralimp, features: 4, degree: 2, share_rows: false}' \
    training.phases.0.steps=2 --output no_chain
expect_error 2 'fold: ralimp .* cannot be folded' "$ralimp" fold no_chain
[[ ! -e no_chain/deployed.h5 ]] || complain "a file of a network that cannot be folded"

finish

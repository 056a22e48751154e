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

# Every other kind, and its kinds of steps in the file.
fold_kind() { # NAME HIDDEN KINDS_OF_STEPS…
    expect 0 "$ralimp" train "$source_folder/configs/siren/quick.yaml" network.width=13 network.hidden_layers=3 \
        'data.size=[12, 15]' training.phases.0.steps=2 "network.hidden={$2}" --output "$1"
    expect 0 "$ralimp" fold "$1"
    expect_text out.txt 'folded against trained on [0-9]+ inputs: RMS [0-9.e-]+'
    grep '^  deployed  ' out.txt >numbers.txt
    expect 0 "$ralimp" inspect "$1/deployed.h5"
    local kind
    for kind in "${@:3}"; do
        expect_text out.txt "step_[0-9]+.kind +$kind"
    done
    # The number that --check and a comparison tell is that of the file.
    expect 0 "$ralimp" train "$1/config.yaml" --check
    local numbers
    numbers=$(sed -nE 's/^  deployed when folded \(ralimp fold\): ([0-9]+)$/\1/p' out.txt)
    [[ -z $numbers ]] || expect_text numbers.txt "^  deployed +$numbers,"
}
fold_kind narrow 'kind: narrow, width: 7' product
fold_kind low_rank 'kind: low_rank, rank: 3' product
fold_kind snnk 'kind: snnk, form: urf' features
fold_kind eugen 'kind: eugen, features: 4' input_norm row_products product
fold_kind monarch 'kind: monarch' blocks product
fold_kind tensor_train 'kind: tensor_train' blocks product
fold_kind own_rows 'kind: ralimp, features: 4, degree: 2, share_rows: false' features row_products product
fold_kind polynomial 'kind: ralimp, features: 4, degree: 2, pole_pairs: 0' row_products product

finish

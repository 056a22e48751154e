# One thread, two and four give the same run, bit by bit: every kind of optimizer, in a PINN and a
# SIREN large enough to be shared among threads.  usage: threads.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"

# The program itself names the kinds it has, those of the future too.
"$ralimp" train "${tiny_siren[@]}" 'training.phases=[{optimizer: {kind: none}}]' >out.txt 2>err.txt
kinds=$(sed -nE 's/.*kind = none must be (.*)$/\1/p' err.txt | tr -d '|')
(($(wc -w <<<"$kinds") >= 4)) || complain "the kinds of optimizers are unknown: $(cat err.txt)"

mkdir programs  # no pictures
pinn=("$source_folder/configs/pinn/burgers_quick.yaml" network.width=24 network.hidden_layers=2
    points.residual=3001 points.resample_every=2 'evaluation.grid=[64, 50]')
siren=("$source_folder/configs/siren/quick.yaml" network.width=48 network.hidden_layers=2
    'data.size=[61, 67]' data.batch_size=3001)
for kind in $kinds; do
    for task in pinn siren; do
        declare -n config=$task
        for threads in 1 2 4; do
            PATH=$work/programs expect 0 "$ralimp" train "${config[@]}" threads=$threads \
                "training.phases=[{steps: 4, optimizer: {kind: $kind}}]" \
                --output "$task-$kind-$threads"
        done
        expect_same_state "$task-$kind-1" "$task-$kind-2"
        expect_same_state "$task-$kind-1" "$task-$kind-4"
    done
done

finish

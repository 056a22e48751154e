# ralimp convert: runs of every task, every kind of hidden layer, what the new run is good for, and what is refused.
# usage: convert.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"

# The errors of the network that the last conversion said, on inputs of calibration: after the start and so on.
network_errors() { awk '$1 == "network" && $2 ~ /^[0-9.e+-]+$/ {print $2}' out.txt; }
# expect_less A B
expect_less() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a + 0 < b + 0)}' || complain "$1 is not less than $2: $3"; }

train() { # FOLDER CONFIG… with three hidden layers in place of two
    local folder=$1
    shift
    expect 0 "$ralimp" train "${@/network.hidden_layers=2/network.hidden_layers=3}" --output "$folder"
}
train pinn "${tiny_pinn[@]}" training.phases.0.steps=200 training.phases.1.steps=60
train siren "${tiny_siren[@]}" training.phases.0.steps=100
train sdf "${tiny_sdf[@]}" training.phases.0.steps=20

# Every kind, of a PINN and an image: the error falls from the start to the end, the new run says what it did, can be
# evaluated and gone on with.
features='network.hidden.features'
kinds=("ralimp $features=2" "low_rank network.hidden.rank=3" "snnk $features=8" "eugen $features=4"
    "monarch network.hidden.blocks=2" "tensor_train network.hidden.rank=1")
declare -A lesson=([pinn]='with derivatives to order 1 ' [siren]='')  # what the loss is made of
for task in pinn siren; do
    for words in "${kinds[@]}"; do
        read -r kind change <<<"$words"
        new=$task-$kind
        expect 0 "$ralimp" convert $task --kind "$kind" "$change" --steps 200 --learning-rate 5e-3 --output "$new"
        mapfile -t errors < <(network_errors)
        ((${#errors[@]} == 3)) || complain "$new: ${#errors[@]} errors of the network"
        expect_less "${errors[2]}" "${errors[0]}" "$new"
        expect_text out.txt "^layers: error of the network ${lesson[$task]}[0-9.e-]+ -> [0-9.e-]+"
        expect_text out.txt "^layer_[12]: distilled in 200 steps, .* error ${lesson[$task]}[0-9.e-]+ -> [0-9.e-]+"
        expect_text out.txt '^parameters: [0-9]+ -> [0-9]+ trained \([0-9.]+ %\), [0-9]+ -> [0-9]+ deployed'
        grep -q "step 0 evaluation" "$new/log.txt" || complain "$new: no evaluation in the log"
        diff <(sed '/^warning/d' "$new/log.txt") <(sed '/^warning/d' out.txt) >difference.txt ||
            complain "$new: the log is not what was said: $(head -5 difference.txt)"
        expect_text "$new/config.yaml" "kind: $kind"
        expect_text "$new/result.json" '"stopped_by": "converted"'
        expect 0 "$ralimp" evaluate "$new"
        figure=$(awk 'NR == 2 {print $1, $2}' out.txt)
        grep -qF "${figure:0:16}" <(sed -E 's/[",:]//g' "$new/result.json") ||
            complain "$new: evaluate says $figure, the result $(cat "$new/result.json")"
        expect 0 "$ralimp" train "$new/config.yaml" training.phases.0.steps=3 --output "$new"
        expect_text "$new/log.txt" 'goes on from step 0 of'
    done
done
for kind in ralimp low_rank snnk; do
    expect 0 "$ralimp" fold pinn-$kind
    expect 0 "$ralimp" export siren-$kind --format safetensors
done

# More than one way to say it, changes before the run, and the rest of the training from elsewhere.
expect 0 "$ralimp" convert 'network.hidden={kind: snnk, features: 8}' siren --distil none --output other
expect_text other/config.yaml 'features: 8'
expect 0 "$ralimp" convert siren --kind snnk 'network.hidden={kind: snnk, features: 8}' --distil none --output both
cmp other/config.yaml both/config.yaml || complain "a kind that is said twice is another one"
! grep -q distilled out.txt || complain "distilled all the same"
expect 0 "$ralimp" train other/config.yaml --weights other training.phases.0.steps=2 --output weights
expect_text weights/log.txt 'starts with the values of other'
expect 0 "$ralimp" render other --output pictures

# The full rank is the network itself, and needs no lesson. What was trained of the loss comes along.
expect 0 "$ralimp" convert pinn --kind low_rank network.hidden.rank=8 --steps 3 training.phases.0.steps=5 \
    --checkpoint best --output same
mapfile -t errors < <(network_errors)
for error in "${errors[@]}"; do expect_less "$error" 1e-12 "the full rank"; done
expect_text out.txt 'network: distilled .*; that is not better, so it stays as it was'
"$ralimp" evaluate pinn --checkpoint best | tail -n +2 | cut -c1-24 >one.txt
"$ralimp" evaluate same | tail -n +2 | cut -c1-24 | diff one.txt - || complain "the full rank has other figures"
expect_text same/config.yaml 'steps: 5'

# Derivatives too, a signed distance field, and the same bits again, with one thread or two.
for threads in 1 2; do
    OMP_NUM_THREADS=$threads expect 0 "$ralimp" convert sdf --kind ralimp $features=3 --steps 20 \
        --output bits-$threads
done
expect_text out.txt 'error with derivatives to order 1'  # the loss is made of them
expect_same_state bits-1 bits-2
expect 0 "$ralimp" convert pinn --kind monarch --derivative-order 2 --steps 100 --distil network --output second
expect_text out.txt 'network: distilled .* error with derivatives to order 2'

# The weights themselves: what is estimated from few features scatters, and that is said. A network that is worse than
# none is written only when that is wanted.
scattered=(siren --kind ralimp network.hidden.psi=weights network.hidden.half_width=0.1 --distil none --output scattered)
expect_error 1 'has the relative error [0-9.e+]+ on inputs .*, more than --max-error 1, so that nothing is written' \
    "$ralimp" convert "${scattered[@]}"
expect_text out.txt 'warning: layer_1: the variance exponent of its features is [0-9.]+'
[[ ! -e scattered ]] || complain "a network that is worse than none was written"
expect_error 1 'more than --max-error 10,' "$ralimp" convert "${scattered[@]}" --max-error 10
expect 0 "$ralimp" convert "${scattered[@]}" --max-error inf
mapfile -t errors < <(network_errors)
expect_less 10 "${errors[0]}" "the estimate"
expect 0 "$ralimp" evaluate scattered

# What cannot be converted leaves nothing behind.
expect 0 "$ralimp" train "${tiny_siren[@]/network.hidden_layers=2/network.hidden_layers=1}" \
    training.phases.0.steps=1 --output shallow
expect 0 "$ralimp" train "${tiny_layer[@]}" 'network.hidden={kind: dense}' training.phases.0.steps=1 --output layer
before=$(ls)
refuse() { # CODE PATTERN ARGUMENTS…
    local code=$1 pattern=$2
    shift 2
    expect_error "$code" "$pattern" "$ralimp" convert "$@" --output new
    [[ ! -e new ]] || complain "a folder of what was refused: $*"
}
refuse 3 'nowhere: does not exist' nowhere --kind snnk
refuse 3 'pinn-snnk: its hidden layers are snnk; only those of a run with .*dense' pinn-snnk --kind low_rank
refuse 3 'shallow: its network has no layer from width to width' shallow --kind low_rank
refuse 3 'layer: a layer run has no network to convert' layer --kind low_rank
refuse 3 'is of another run than siren' siren --kind snnk --checkpoint pinn/checkpoints/best.h5
refuse 2 'dense is what the run has; give another kind' siren
refuse 2 'dense is what the run has; give another kind' siren --kind dense
refuse 2 'narrow layers have another width' siren --kind narrow
refuse 2 'did you mean snnk' siren --kind snk
refuse 2 'network.hidden.rank = 0 must be at least 1' siren --kind low_rank network.hidden.rank=0
refuse 2 'rank must be at most the width' siren --kind low_rank network.hidden.rank=9
refuse 2 'unknown key network.hidden.rnk; did you mean rank' siren --kind low_rank network.hidden.rnk=2
refuse 2 'network.width cannot be changed' siren --kind low_rank network.hidden.rank=2 network.width=9
refuse 2 'network.hidden_layers cannot be changed' siren --kind snnk network.hidden_layers=4
refuse 2 'seed cannot be changed' siren --kind snnk seed=4
refuse 2 '--kind snnk contradicts the change to network.hidden.kind = eugen; leave one out' siren --kind snnk \
    'network.hidden={kind: eugen}'
refuse 2 'network.hidden.kind is set twice' siren network.hidden.kind=snnk 'network.hidden={kind: snnk}'
refuse 2 'network.hidden.features: .* GiB are available' siren --kind ralimp $features=1000000000000
refuse 2 '--steps: .*0 not in range' siren --kind snnk --steps 0
refuse 2 '--learning-rate: 0 is not positive' siren --kind snnk --learning-rate 0
refuse 2 '--learning-rate: nan is not positive' siren --kind snnk --learning-rate nan
refuse 2 '--max-error: nan is not positive' siren --kind snnk --max-error nan
refuse 2 '--max-error: 0 is not positive' siren --kind snnk --max-error 0
refuse 2 '--distil: .*everything not in' siren --kind snnk --distil everything
refuse 2 '--derivative-order: .*3 not in range' siren --kind snnk --derivative-order 3
refuse 5 'layer_1: step 2 of the distillation: the loss is nan; a lower --learning-rate' siren --kind low_rank \
    network.hidden.rank=2 --learning-rate 1e38
expect_error 2 '--output is required' "$ralimp" convert siren --kind snnk
diff <(echo "$before") <(ls) || complain "something was left behind"

# A folder that is not the new run's stays as it is.
mkdir full && echo mine >full/file
expect_error 2 'full: is not empty' "$ralimp" convert siren --kind snnk --output full
expect_error 2 'pinn: holds a run already' "$ralimp" convert siren --kind snnk --output pinn
[[ $(cat full/file) == mine ]] || complain "a file in a folder that was refused is gone"
mkdir empty
expect_error 5 'the loss is nan' "$ralimp" convert siren --kind low_rank network.hidden.rank=2 --learning-rate 1e38 \
    --output empty
[[ -d empty && -z $(ls -A empty) ]] || complain "an empty folder did not stay one"
expect 0 "$ralimp" convert siren --kind snnk --distil none --output empty

# A signal.
start "$ralimp" convert siren --kind snnk --steps 1000000 --output stopped
until_true grep -q 'after the start' out.txt
send INT 6
[[ ! -e stopped ]] || complain "a folder of a conversion that was stopped"

finish

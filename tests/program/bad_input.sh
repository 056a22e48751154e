# Every bad input gives one clear line and its exit code, and nothing is lost.
# usage: bad_input.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"
# No pictures: they are not what is looked at here.
mkdir programs
for name in bash cat cp diff grep head ls mkdir mount umount rm wc; do
    ln -s "$(command -v $name)" programs/ 2>/dev/null
done
full_path=$PATH
pinn=("${tiny_pinn[@]}" training.phases.1.steps=3 training.log_every=1)

# The command line.
expect_error 2 '^ralimp: .*--help' "$ralimp"
commands='train, evaluate, predict, render, fold, convert, export, compare, fit, inspect; see ralimp --help$'
expect_error 2 "^ralimp: no command given; the commands are $commands" "$ralimp"
expect_error 2 "^ralimp: unknown command foo; the commands are $commands" "$ralimp" foo --check
expect_error 2 "^ralimp: unknown command trian; did you mean train\?; the commands are $commands" \
    "$ralimp" trian a.yaml
expect_error 2 "^ralimp: unknown option --foo; the commands are $commands" "$ralimp" --foo
expect_error 2 "^ralimp: unknown option --hepl; did you mean --help\?; the commands are" "$ralimp" --hepl
expect_error 2 "^ralimp: unknown option --output; it is one of train, predict, render, fold, convert, export, compare, behind" \
    "$ralimp" --output runs/a train a.yaml
expect_error 2 '^ralimp: unknown option -x; the commands are' "$ralimp" -x
expect 0 "$ralimp" --version

# An empty value, as an unset variable of a shell leaves it, is none: of every option of every command.
values=0
for command in train evaluate predict render convert export fit inspect; do
    expect 0 "$ralimp" "$command" --help
    while read -r option; do
        values=$((values + 1))
        expect_error 2 "^ralimp: $option: the value is empty" "$ralimp" $command $option '' word word
        expect_error 2 "^ralimp: $option: the value is empty" "$ralimp" $command word $option= word
    done < <(sed -nE 's/^  (--[a-z-]+)[ :].*/\1/p' out.txt |
        grep -vxE -- '--help|--check|--partial|--print-config|--derivatives')
    expect_error 2 'the value is empty' "$ralimp" "$command" ''
done
((values == 27)) || complain "$values options with a value were found"
RALIMP_SIMD=mmx expect_error 2 "^ralimp: RALIMP_SIMD: 'mmx' is not .* use baseline" "$ralimp" inspect a.h5
RALIMP_SIMD='' expect_error 3 'a.h5: cannot be read' "$ralimp" inspect a.h5

# What is not printable is written out, whatever part of the input it comes from.
red=$'a\x1b[31m'
expect_error 2 'unknown command a.x1b.31m;' "$ralimp" "$red"
expect_error 2 'a.x1b.31m.yaml: cannot be read' "$ralimp" train "$red.yaml"
expect_error 2 'a.x1b.31m' "$ralimp" train "${pinn[@]}" "$red=1"
expect_error 2 'a.x1b.31m' "$ralimp" train "${pinn[@]}" "--$red"
expect_error 2 'control character 0x1b' "$ralimp" train "${pinn[@]}" "seed=$red"
expect_error 2 'a.x1b.31m. is no name' "$ralimp" train "${pinn[@]}" \
    'problem={kind: custom, geometry: {kind: interval}, outputs: ["a\e[31m"], equations: ["u_x"]}'
expect_error 3 'a.x1b.31m: does not exist' "$ralimp" evaluate "$red"
expect_error 3 'a.x1b.31m: cannot be read' "$ralimp" inspect "$red"
expect_error 2 'a.x1b.31m' "$ralimp" fit "$red"
expect_error 2 'CONFIG' "$ralimp" train
expect_error 2 'no config' "$ralimp" train seed=1
expect_error 2 'two configs' "$ralimp" train a.yaml b.yaml
expect_error 2 '--colour' "$ralimp" train "${pinn[@]}" --colour
expect_error 2 'RUN' "$ralimp" evaluate
expect_error 2 'FILE' "$ralimp" inspect

# The config.
expect_error 2 'missing.yaml: cannot be read' "$ralimp" train missing.yaml
expect_error 2 'unknown key network.widht; did you mean width' "$ralimp" train "${tiny_siren[@]}" \
    network.widht=3
expect_error 2 'training.log_every' "$ralimp" train "${tiny_pinn[@]}" training.log_every=often
expect_error 2 'points.residual' "$ralimp" train "$source_folder/configs/pinn/burgers.yaml" \
    points.residual=0
expect_error 2 'set twice' "$ralimp" train "${tiny_pinn[@]}" network.width=9
expect_error 2 'network.hidden.*rank must be at most the width' "$ralimp" train "${tiny_pinn[@]}" \
    'network.hidden={kind: low_rank, rank: 9}'
expect_error 2 'network.hidden.rank = 0 must be at least 1' "$ralimp" train "${tiny_pinn[@]}" \
    'network.hidden={kind: low_rank, rank: 0}'
expect_error 2 'did you mean snnk' "$ralimp" train "${tiny_pinn[@]}" 'network.hidden={kind: snk}'
expect_error 2 'network.hidden.form' "$ralimp" train "${tiny_pinn[@]}" \
    'network.hidden={kind: snnk, form: gelu}'
expect_error 2 'network.hidden.degree = 21 must be' "$ralimp" train "${tiny_pinn[@]}" \
    'network.hidden={kind: eugen, degree: 21}'
printf 'kind: pinn\nseed: [1\n' >broken.yaml
: >empty.yaml
expect_error 2 '^ralimp: empty.yaml: the config is empty' "$ralimp" train empty.yaml
expect_error 2 'broken.yaml:' "$ralimp" train broken.yaml
expect_error 2 'kind' "$ralimp" train "$source_folder/configs/pinn/burgers.yaml" kind=poem
expect_error 2 'schedule: falls to 0' "$ralimp" train "${pinn[@]}" \
    'training.phases.1.schedule={kind: linear, final_factor: 0, steps: 2}'
expect_error 2 'viscosity' "$ralimp" train "${pinn[@]}" problem.viscosity=1
expect_error 2 'RALIMP_DATA, which is not set' "$ralimp" train \
    "$source_folder/configs/siren/camera.yaml"

available=$(sed -nE 's/^MemAvailable: *([0-9]+) kB/\1/p' /proc/meminfo)
# More memory than any machine has: refused at once, whichever phase would need it.
expect_error 2 '^ralimp: network.width: .* \(the network of 4.291e\+12 trained parameters' "$ralimp" train \
    "${pinn[@]:0:1}" network.width=65536 network.hidden_layers=1000
expect_error 2 '^ralimp: network.hidden.features: .* GiB are available' "$ralimp" train "${pinn[@]}" \
    'network.hidden={kind: ralimp, features: 1000000000000}' --check
large=("$source_folder/configs/siren/quick.yaml" network.hidden_layers=3 network.width=1000
    'data.size=[3, 3]')
expect_error 2 'phases\[1\].optimizer: the inverse Hessian of .* more than max_memory_gib = 4;' \
    "$ralimp" train "${large[@]}" 'training.phases=[{steps: 3}, {steps: 3, optimizer: {kind: bfgs}}]'
expect_error 2 'phases\[1\].optimizer: .*the state of bfgs .* GiB are available: lbfgs needs' \
    "$ralimp" train "${large[@]}" \
    'training.phases=[{steps: 3}, {steps: 3, optimizer: {kind: bfgs, max_memory_gib: 1e9}}]'
# What layers start from counts: rows of every feature, and its least squares.
((available > 150000000)) ||
    expect_error 2 'hidden.features: .*the start of a layer .* GiB are available' "$ralimp" train \
        --check "$source_folder/configs/pinn/burgers_ralimp.yaml" network.hidden.features=400000
# 0.12 GiB are enough without the parameters of the first and the last layer, which the task knows.
small=("${large[@]:0:1}" network.hidden_layers=2 network.width=60 'data.size=[3, 3]')
expect_error 2 'phases\[0\].optimizer: the inverse Hessian of 4023 parameters' "$ralimp" train \
    "${small[@]}" \
    'training.phases=[{steps: 1, optimizer: {kind: bfgs, max_memory_gib: 0.12}}]'
expect_error 2 'phases\[0\].optimizer: the inverse Hessian of 4023 parameters' "$ralimp" train --check \
    "${small[@]}" \
    'training.phases=[{steps: 1, optimizer: {kind: bfgs, max_memory_gib: 0.12}}]'

# The image.
siren=("$source_folder/configs/siren/quick.yaml" network.width=8 'data.size=null')
RALIMP_DATA=$work/nowhere expect_error 3 'nowhere/images/camera.png: cannot be read' "$ralimp" \
    train "$source_folder/configs/siren/camera.yaml"
expect 0 "$ralimp" train "${tiny_siren[@]}" training.phases.0.steps=2 --output siren
picture=siren/pictures/reconstruction.png
head -c 300 $picture >truncated.png
expect_error 3 'truncated.png' "$ralimp" train "${siren[@]}" data.image=truncated.png
expect_error 3 'truncated.png' "$ralimp" inspect truncated.png
echo hello >text.png
expect_error 3 'text.png' "$ralimp" train "${siren[@]}" data.image=text.png
: >empty.jpg
expect_error 3 'empty.jpg' "$ralimp" train "${siren[@]}" data.image=empty.jpg
expect_error 3 'is a folder' "$ralimp" train "${siren[@]}" data.image=siren
expect_error 2 'larger than' "$ralimp" train "$source_folder/configs/siren/quick.yaml" \
    data.image=$picture 'data.size=[50, 50]'
expect_error 2 '^ralimp: data.size: 16384 x 16384 are more than the 134 million pixels' "$ralimp" \
    train "$source_folder/configs/siren/quick.yaml" 'data.size=[16384, 16384]'
sound=("$source_folder/configs/siren/audio.yaml" network.width=8)
expect_error 3 'text.png: is not a WAV file' "$ralimp" train "${sound[@]}" data.sound=text.png
expect_error 3 'none.wav' "$ralimp" train "${sound[@]}" data.sound=none.wav
expect_error 2 'unknown key data.size' "$ralimp" train "${sound[@]}" 'data.size=[3, 4]'
expect_error 2 'loss.fit: laplacian needs 3' "$ralimp" train "$source_folder/configs/siren/quick.yaml" \
    loss.fit=laplacian 'data.size=[2, 2]'
expect_error 2 'batch_size' "$ralimp" train "${tiny_siren[@]}" data.batch_size=181
expect_error 3 'none.obj: cannot be read' "$ralimp" train "${tiny_sdf[@]}" data.mesh=none.obj
expect_error 3 'text.png:1: .hello. is no statement' "$ralimp" train "${tiny_sdf[@]}" data.mesh=text.png
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n' >bad.obj
expect_error 3 'bad.obj:4: there is no vertex 4' "$ralimp" train "${tiny_sdf[@]}" data.mesh=bad.obj
expect_error 3 'bad.obj:4: there is no vertex 4' "$ralimp" inspect bad.obj
expect_error 2 'unknown key loss.kind' "$ralimp" train "${tiny_sdf[@]}" loss.kind=mse

# Activations for which no RaLiMP layer can stand in: whichever cannot be trained says so by its key.
expect 2 "$ralimp" train "${tiny_siren[@]}" network.activation=none
activations=$(sed -nE 's/.*activation = none must be (.*)$/\1/p' err.txt | tr -d '|')
(($(wc -w <<<"$activations") > 15)) || complain "the activations are unknown: $(cat err.txt)"
expect_error 2 '^ralimp: network.activation: log: .*the function is not finite at t' "$ralimp" train \
    "${tiny_siren[@]}" network.activation=log 'network.hidden={kind: ralimp, features: 2}'
for activation in $activations; do
    "$ralimp" train "${tiny_siren[@]}" network.activation=$activation --check \
        'network.hidden={kind: ralimp, features: 2}' >out.txt 2>err.txt
    code=$?
    ((code == 0 || code == 5)) || { ((code == 2)) && grep -q '^ralimp: network\.' err.txt; } ||
        complain "$activation: code $code, $(cat err.txt)"
done
[[ ! -e runs ]] || complain "a folder was made for a run that could not begin: $(ls runs)"

# The run's folder.
: >file
expect_error 4 'file/run: cannot be made' "$ralimp" train "${pinn[@]}" --output file/run
mkdir full && : >full/letter
expect_error 2 'full: is not empty' "$ralimp" train "${pinn[@]}" --output full
[[ $(ls full) == letter ]] || complain "a folder that is no run was written to"
expect_error 2 'holds a run already' "$ralimp" train "${tiny_siren[@]}" --resume never --output siren
expect_error 3 'is not the folder of a run' "$ralimp" evaluate full
expect_error 3 'does not exist' "$ralimp" evaluate nowhere
expect_error 3 'cannot be read' "$ralimp" inspect nowhere
expect_error 4 'cannot be made' "$ralimp" render siren --output file/pictures
for size in 0x5 x 5x 5x-1 1e3 99999999999999999999; do
    expect_error 2 "^ralimp: --size: '$size' is no size" "$ralimp" render siren --size $size
done
expect_error 2 'no size of an image' "$ralimp" render siren --size 12
expect_error 2 'surfaces are those of sdf runs, not siren' "$ralimp" export siren
expect_error 2 '--resolution' "$ralimp" export siren --resolution 0
expect_error 2 '--format' "$ralimp" export siren --format stl
expect_error 2 '--memory' "$ralimp" export siren --memory 0
expect_error 2 'million pixels' "$ralimp" render siren --size 1000000x1000000
expect_error 3 'none.h5: cannot be read' "$ralimp" evaluate siren --checkpoint none.h5

# Where nothing can be written it is said before the work: here before a checkpoint is read.
for output in file/x none/x; do
    expect_error 4 "$output.csv: cannot be written" "$ralimp" predict siren --checkpoint none.h5 \
        --output $output.csv
    expect_error 4 "$output.ply: cannot be written" "$ralimp" export siren --checkpoint none.h5 \
        --output $output.ply
    expect_error 4 "$output.png: cannot be written" "$ralimp" fit tanh repeats=100000 \
        dimension=4000 --picture $output.png
done
mkdir -p taken/mesh.ply && cp siren/config.yaml taken
expect_error 4 'taken/mesh.ply: cannot be written: a folder' "$ralimp" export taken

# Checkpoints.
PATH=programs expect 0 "$ralimp" train "${pinn[@]}" training.phases.0.steps=5 \
    training.checkpoint_every=4 --output pinn
last=pinn/checkpoints/step-00000008.h5
cp -r pinn before
expect_error 3 'nothing.h5: cannot be read' "$ralimp" train "${pinn[@]}" --resume nothing.h5
head -c 5000 $last >truncated.h5
expect_error 3 'truncated.h5: .*truncated' "$ralimp" train "${pinn[@]}" --resume truncated.h5
expect_error 3 'truncated.h5' "$ralimp" inspect truncated.h5
expect_error 3 'truncated.h5' "$ralimp" evaluate pinn --checkpoint truncated.h5
expect_error 3 'in the checkpoint \[' "$ralimp" train --resume $last --output other \
    "$source_folder/configs/pinn/burgers_quick.yaml" network.hidden_layers=2
expect_error 3 'pinn run; the config.s kind is siren' "$ralimp" train "${tiny_siren[@]}" \
    --output pinn
expect_error 3 'step-00000008.h5: .*in the checkpoint \[' "$ralimp" train --output pinn \
    "$source_folder/configs/pinn/burgers_quick.yaml" network.hidden_layers=2
[[ ! -e other ]] || complain "a folder was made for a run that could not begin"
diff -r before pinn || complain "refused resumes have changed the run"

# A checkpoint of another run: refused where the network is another, told where its task is.
PATH=programs expect 0 "$ralimp" train "${pinn[@]}" training.phases.0.steps=5 seed=1 \
    'problem={kind: burgers, viscosity: 0.1}' --output thick
PATH=programs expect 0 "$ralimp" train "${pinn[@]}" training.phases.0.steps=5 network.first_omega=2 \
    --output faster
expect_error 3 'kind is siren, not pinn' "$ralimp" evaluate pinn \
    --checkpoint siren/checkpoints/best.h5
expect_error 3 'best.h5: is of another run than pinn: network.first_omega is 2, not 1' "$ralimp" \
    evaluate pinn --checkpoint faster/checkpoints/best.h5
expect_error 3 'first_omega' "$ralimp" predict pinn --checkpoint faster/checkpoints/best.h5 \
    --output other.csv
expect 0 "$ralimp" evaluate pinn --checkpoint thick/checkpoints/best.h5
expect_text err.txt '^warning: .*best.h5: is of another run than pinn: problem.viscosity is 0.1, not '
expect_text err.txt '^warning: .*best.h5: is of another run than pinn: seed is 1, not 0$'
expect 0 "$ralimp" evaluate pinn --checkpoint $last
[[ ! -s err.txt ]] || complain "a run's own checkpoint: $(cat err.txt)"
# Copied elsewhere, and of a run with other steps and evaluations, it is the run's model still.
cp $last copied.h5
sed -i 's/log_every: 1$/log_every: 3/; s/threads: 0$/threads: 1/' pinn/config.yaml
expect 0 "$ralimp" evaluate pinn --checkpoint copied.h5
[[ ! -s err.txt ]] || complain "a copied checkpoint: $(cat err.txt)"
cp before/config.yaml pinn/config.yaml

# A damaged newest checkpoint is skipped; with all damaged the run is left alone.
cp -r before damaged
printf x | dd of=damaged/checkpoints/step-00000008.h5 bs=1 seek=3000 conv=notrunc 2>/dev/null
PATH=programs expect 0 "$ralimp" train before/config.yaml --output damaged
expect_text out.txt '^warning: .*step-00000008.h5.* skipped$'
expect_text out.txt 'goes on from step 4 of'
expect_same_state before damaged
for file in damaged/checkpoints/*.h5; do echo broken >"$file"; done
expect_error 3 'none of its 2 checkpoints can be used' "$ralimp" train before/config.yaml \
    --output damaged

# torchtitan#3732, #1311 and physicsnemo-sym#152: runs and folders without a checkpoint. What was named
# is never passed over for a start from nothing; what stands empty is no hindrance.
cp -r before bare && rm bare/checkpoints/* bare/result.json
expect_error 3 'bare: the run has no checkpoint$' "$ralimp" train "${pinn[@]}" --resume bare
expect_error 3 'step-00000099.h5: cannot be read' "$ralimp" train "${pinn[@]}" \
    --resume before/checkpoints/step-00000099.h5
expect_error 3 'is not the folder of a run' "$ralimp" train "${pinn[@]}" --resume full
for command in evaluate render 'predict --output a.csv' export; do
    expect_error 3 'bare: the run has no checkpoint yet$' "$ralimp" $command bare
done
cp before/checkpoints/best.h5 bare/checkpoints/
expect_error 3 '--checkpoint best takes the best model so far$' "$ralimp" evaluate bare
expect 0 "$ralimp" inspect bare
expect_text out.txt 'checkpoints at steps: none'
PATH=programs expect 0 "$ralimp" train before/config.yaml --output bare
if grep -q 'goes on from' out.txt; then complain "a run without a checkpoint went on"; fi
expect_same_state before bare
mkdir empty
PATH=programs expect 0 "$ralimp" train "${pinn[@]}" training.phases.0.steps=5 \
    --resume before/checkpoints/step-00000004.h5 --output empty
expect_text out.txt 'goes on from step 4 of before/checkpoints/step-00000004.h5$'

# A loss that explodes: its own exit code, the term, the step; the checkpoint before it is kept.
expect_error 5 '^ralimp: step 2: the loss term initial is inf; .*step-00000001.h5$' "$ralimp" train \
    "${tiny_pinn[@]}" precision=float32 training.checkpoint_every=1 --output exploded \
    'training.phases.0.optimizer={kind: sgd, learning_rate: 1e25}'
expect_text exploded/result.json '"stopped_by": "non-finite loss"'
expect_text exploded/log.txt '^error: step 2: '
expect 0 "$ralimp" inspect exploded
expect_text out.txt 'not finished'
expect 0 "$ralimp" evaluate exploded

# A limit on the size of files, as a full disk: what was saved before is whole.
long=("${pinn[@]}" training.phases.0.steps=2000 training.evaluate_every=0)
limited() { (ulimit -f 40 && PATH=programs exec "$@"); }
expect_error 4 'metrics.csv: cannot be written: File too large' limited "$ralimp" train \
    "${long[@]}" training.checkpoint_every=50 --output limited
expect 0 "$ralimp" evaluate limited
PATH=programs expect 0 "$ralimp" train limited/config.yaml --output limited
PATH=programs expect 0 "$ralimp" train limited/config.yaml --output unlimited
expect_same_state limited unlimited

# A full disk, where one can be made.
mkdir disk
if mount -t tmpfs -o size=200k ralimp-test disk 2>/dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    PATH=programs expect_error 4 'No space left on device' "$ralimp" train "${long[@]}" \
        training.checkpoint_every=50 --output disk/run
    expect 0 "$ralimp" evaluate disk/run
else
    echo "note: no file system can be mounted here; the full disk is left out"
fi

# Fewer steps than were made, or others in a phase that is over; more in the last go on.
for steps in 3 7; do
    expect_error 2 "phases\[0\].steps = $steps, was 5: phase 1 is over and keeps its steps; change" \
        "$ralimp" train before/config.yaml training.phases.0.steps=$steps --output before
done
expect_error 2 'step-00000008.h5: the checkpoint has made 3 steps of phase 2; .* = 2 is fewer' \
    "$ralimp" train before/config.yaml training.phases.1.steps=2 --output before

# A loss that is no number from the start.
nan=("${pinn[@]:0:1}" network.width=4 network.hidden_layers=1
    'problem={kind: custom, geometry: {kind: interval}, equations: ["u*log(x - 5)"]}')
expect_error 5 'at the start (loss|residual) is nan' "$ralimp" train "${nan[@]}" --check
expect_text out.txt '^  residual +nan$'
expect_error 5 'step 1: the loss term residual is nan' "$ralimp" train "${nan[@]}" --output nan

# A fit that cannot be made.
expect_error 2 "unknown name 'foo'; known are" "$ralimp" fit foo
((available > 400000000)) ||
    expect_error 2 '^ralimp: features: 1048576 of dimension 65536 take 512 GiB, .* GiB of memory' \
        "$ralimp" fit tanh features=1048576 dimension=65536
expect_error 2 'half_width' "$ralimp" fit tanh half_width=-1
expect_error 2 'is nan: its numbers leave the range' "$ralimp" fit tanh half_width=1e300 repeats=2
expect_error 2 'is (nan|inf): its numbers leave the range' "$ralimp" fit tanh half_width=1e-300 \
    repeats=2

# Output that cannot be written. A run is finished all the same.
expect_error 4 'standard output: cannot be written: No space left on device; everything is in told' \
    bash -c "'$ralimp' train before/config.yaml --output told >/dev/full"
expect_text told/result.json '"stopped_by": "completed"'
expect_same_state before told
expect_error 4 'standard output: cannot be written' bash -c "'$ralimp' inspect before >/dev/full"
PATH=$full_path
finish

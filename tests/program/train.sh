# Trains a tiny PINN and a tiny SIREN as a user does, and looks at all they leave behind.
# usage: train.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"

expect_run() { # FOLDER, then the keys of its result.json
    local folder=$1 key
    shift
    for file in config.yaml metrics.csv log.txt result.json checkpoints/best.h5; do
        [[ -s $folder/$file ]] || complain "$folder has no $file"
    done
    for key in "$@" task trained_parameters deployed_parameters steps seconds steps_per_second \
        clamped_exponents peak_memory_bytes seed version stopped_by; do
        expect_text "$folder/result.json" "^  \"$key\": [-0-9\".a-z]"
    done
    # Flat: one object, one value a line.
    [[ $(grep -c '[{}]' "$folder/result.json") == 2 ]] || complain "$folder/result.json is not flat"
    if grep -rq partial- <(ls -R "$folder"); then complain "$folder holds a temporary file"; fi
}

pictures=yes
command -v gnuplot >/dev/null || pictures=no

# Flags, config and overrides in any order.
expect 0 "$ralimp" train training.phases.0.steps=12 --output pinn "${tiny_pinn[@]}" \
    --resume never training.phases.1.steps=6
expect_run pinn relative_l2 max_error
expect_text out.txt '^relative_l2 [0-9.e-]+$'
expect_text out.txt "^everything is in $work/pinn$"
expect_text out.txt 'step 18/18  loss '
expect_text pinn/result.json '"steps": 18,'
expect_text pinn/result.json '"trained_parameters": 105,'
expect_text pinn/result.json '"stopped_by": "completed"'
[[ $(head -1 pinn/metrics.csv) == \
    'step,loss,residual,initial,boundary,learning_rate,gradient_norm,seconds,relative_l2,max_error' ]] ||
    complain "the header of metrics.csv: $(head -1 pinn/metrics.csv)"
if [[ $pictures == yes ]]; then
    expect_text out.txt '^picture pinn/pictures/solution.png$'
    for name in solution loss; do
        expect 0 "$ralimp" inspect pinn/pictures/$name.png
        expect_text out.txt '^image .*: [0-9]+ x [0-9]+, '
    done
fi

# The same config again, from its resolved file: the same run.
expect 0 "$ralimp" train --output again pinn/config.yaml
expect_same_state pinn again

# A run that is at its end stays as it is; more steps continue it.
cp -r pinn before
expect 0 "$ralimp" train pinn/config.yaml --output pinn
expect_text out.txt '^nothing to do: the run in pinn ended at step 18 \(completed\)'
diff -r before pinn || complain "a run at its end was changed"
expect 0 "$ralimp" train pinn/config.yaml training.phases.1.steps=9 --output pinn
expect_text out.txt 'goes on from step 18'
expect_text out.txt \
    '^warning: the config differs from that of the checkpoint: training.phases\[1\].steps = 9, was 6$'
[[ $(grep -c '^warning: the config differs' out.txt) == 1 ]] ||
    complain "the changes of the config: $(grep warning out.txt)"
expect_text pinn/result.json '"steps": 21,'

# A line search that goes on with another loss does not compare with the one it kept.
expect 0 "$ralimp" train pinn/config.yaml --resume pinn loss.initial_weight=100 \
    training.phases.1.steps=15 --output reweighted
expect_text out.txt '^warning: .* loss.initial_weight = 100, was 1$'
expect_text reweighted/result.json '"steps": 27,'
[[ -s pinn/points.csv && $(head -1 pinn/points.csv) == condition,x,t ]] ||
    complain "pinn/points.csv: $(head -1 pinn/points.csv)"

# Without --output: runs/NAME-1, -2.
expect 0 "$ralimp" train "${tiny_siren[@]}" training.phases.0.steps=5 data.batch_size=32
expect_run runs/quick-1 psnr max_error
for name in reconstruction original error_x10; do
    expect 0 "$ralimp" inspect runs/quick-1/pictures/$name.png
    expect_text out.txt ': 12 x 15, 3 channels of 8 bits$'
done
expect 0 "$ralimp" train "${tiny_siren[@]}" training.phases.0.steps=5 data.batch_size=32 threads=1
expect_run runs/quick-2 psnr max_error
expect_same_state runs/quick-1 runs/quick-2

# The commands on a run.
for run in pinn runs/quick-1; do
    expect 0 "$ralimp" evaluate $run
    while read -r name value; do
        [[ $name == step ]] || expect_text $run/result.json "^  \"$name\": $value,$"
    done <out.txt
    [[ $(wc -l <out.txt) == 3 ]] || complain "evaluate $run says: $(cat out.txt)"
    expect 0 "$ralimp" evaluate --checkpoint best $run
    expect 0 "$ralimp" inspect $run
    expect_text out.txt '^run .*, finished$'
    expect 0 "$ralimp" inspect $run/config.yaml
    expect_text out.txt '^network:'
done
if [[ $pictures == yes ]]; then
    expect 0 "$ralimp" render --output drawn pinn
    [[ -s drawn/solution.png && -s drawn/loss.png ]] || complain "render made no picture"
    expect 0 "$ralimp" render runs/quick-1
fi

# A network at another size, and its derivatives.
expect 0 "$ralimp" render runs/quick-1 --size 31x18 --output drawn
expect_text out.txt '^drawn/reconstruction_31x18.png$'
expect 0 "$ralimp" render runs/quick-1 --derivatives --size 7x9 --output drawn
for name in gradient_7x9 laplacian_7x9; do
    expect 0 "$ralimp" inspect drawn/$name.png
    expect_text out.txt ': 7 x 9, 3 channels of 8 bits$'
done

# A sound.
expect 0 "$ralimp" train "$source_folder/configs/siren/audio.yaml" network.width=8 data.seconds=0.05 \
    training.phases.0.steps=4 --output sound
expect_run sound snr psnr max_error
[[ $(head -c 4 sound/pictures/reconstruction.wav) == RIFF ]] || complain "sound has no WAV"
expect 0 "$ralimp" render sound --size 1000 --output drawn
[[ $(wc -c <drawn/reconstruction_1000.wav) == 2044 ]] || complain "not 1000 samples of 16 bits"
expect 0 "$ralimp" train "$source_folder/configs/siren/audio.yaml" network.first_omega=1 --check
expect_text out.txt '^  warning: network.first_omega: 1 is far too low'

# A picture from its gradient.
expect 0 "$ralimp" train "$source_folder/configs/siren/from_gradients.yaml" network.width=8 \
    'data.size=[8, 9]' training.phases.0.steps=4 --output poisson
expect_run poisson psnr max_error gradient_error

# A signed distance field and its surface.
expect 0 "$ralimp" train "${tiny_sdf[@]}" training.phases.0.steps=150 --output solid
expect_run solid distance_error surface_distance surface_error normal_angle gradient_error
expect_text solid/log.txt '^loss: 3000 surface \+ 100 normal \+ 500 eikonal \+ 5 off_surface, alpha 100$'
expect 0 "$ralimp" export solid --resolution 13
expect_text out.txt '^13 x 13 x 13 cubes: 2.74e\+03 evaluations of the network, about '
expect_text out.txt '^solid/mesh.ply$'
expect 0 "$ralimp" inspect solid/mesh.ply
expect_text out.txt '^mesh: [0-9]+ vertices, [0-9]+ triangles, area '
# From the mesh the next one.
expect 0 "$ralimp" train "${tiny_sdf[@]}" data.mesh=solid/mesh.ply training.phases.0.steps=150 --output remade
expect_run remade surface_distance surface_error normal_angle gradient_error
expect_text remade/log.txt '^into \[-1, 1\]\^3: '
expect 0 "$ralimp" export remade --format ply --checkpoint best --resolution 9 --output remade.ply
expect 0 "$ralimp" evaluate remade

# deepxde#1364, physicsnemo#200: another process has the very model that was trained, whatever the
# task and the layers, and needs nothing but the checkpoint.
expect 0 "$ralimp" train "${tiny_siren[@]}" training.phases.0.steps=5 --output features \
    'network.hidden={kind: ralimp, split: phase_input, psi: free, train_projections: true}'
for run in sound poisson solid remade features; do
    mv $run/config.yaml $run/config.yaml.copy && echo 'kind: pinn' >$run/config.yaml
    expect 0 "$ralimp" evaluate $run
    mv $run/config.yaml.copy $run/config.yaml
    (($(wc -l <out.txt) >= 3)) || complain "evaluate $run says: $(cat out.txt)"
    while read -r name value; do
        [[ $name == step ]] || expect_text $run/result.json "^  \"$name\": $value,$"
    done <out.txt
done

# deepxde#323, #1390: the model alone, with another optimizer and other data, at step 0; a rate this
# small changes no bit of it.
warm=("${tiny_pinn[@]}" seed=5 'training.phases=[{steps: 1, optimizer: {kind: sgd, learning_rate: 1e-99}}]')
expect 0 "$ralimp" train "${warm[@]}" --weights pinn --output warm
expect_text warm/log.txt '^the model starts with the values of pinn/checkpoints/step-00000021.h5$'
expect_text warm/result.json '"steps": 1,'
for name in relative_l2 max_error; do
    [[ $(grep "\"$name\"" warm/result.json) == "$(grep "\"$name\"" pinn/result.json)" ]] ||
        complain "--weights gave another model: $(cat warm/result.json)"
done
expect_error 3 'best.h5: model: the checkpoint does not fit: layer_1.weight has shape \[7, 2\], in the' \
    "$ralimp" train "${tiny_pinn[@]:0:1}" network.width=7 --weights pinn/checkpoints/best.h5 --output cold
expect_error 2 '--partial' "$ralimp" train "${warm[@]}" --partial --output cold
# A check says whether they fit, and computes with them.
expect 0 "$ralimp" train "${warm[@]}" --weights pinn --check
grep -E '^  loss ' out.txt >with.txt
expect_text out.txt '^the model starts with the values of pinn/'
expect 0 "$ralimp" train "${warm[@]}" --check
grep -E '^  loss ' out.txt | diff -q - with.txt >/dev/null && complain "--check ignored --weights"
expect_error 3 'in the checkpoint \[' "$ralimp" train "${tiny_pinn[@]:0:1}" network.width=7 \
    --weights pinn/checkpoints/best.h5 --check
expect_error 2 '--weights starts a run' "$ralimp" train "${warm[@]}" --weights pinn --resume pinn --output cold
expect_error 3 'nothing of the checkpoint fits: ' "$ralimp" train "${tiny_siren[@]}" \
    --weights pinn --partial --output cold
[[ ! -e cold ]] || complain "a folder was made for a run that could not begin"
# physicsnemo#200: what does not fit is said, tensor by tensor.
deeper=("${tiny_pinn[@]:0:1}" network.width=8 network.hidden_layers=3 points.residual=200
    'evaluation.grid=[16, 10]' training.phases.0.steps=4)
expect 0 "$ralimp" train "${deeper[@]}" training.phases.1.steps=2 --weights pinn --partial --output deeper
[[ $(grep -c '^warning: pinn/checkpoints/step-00000021.h5: left out: layer_[34]\.' deeper/log.txt) == 4 ]] ||
    complain "left out: $(grep warning deeper/log.txt)"
# The same command goes on with the run, not from its start again.
cp -r deeper straight
expect 0 "$ralimp" train "${deeper[@]}" training.phases.1.steps=5 --weights pinn --partial --output deeper
expect_text out.txt 'goes on from step 6 of deeper/'
if grep -q 'the model starts with' out.txt; then complain "a run that goes on took weights again"; fi
expect 0 "$ralimp" train straight/config.yaml training.phases.1.steps=5 --output straight
expect_same_state straight deeper

# A resume that is refused leaves config, metrics and checkpoints alone.
expect 0 "$ralimp" train "${tiny_pinn[@]}" --output refused
cp -r refused as-it-was
expect_error 3 'refused/metrics.csv: has the columns' "$ralimp" train "${tiny_pinn[@]}" \
    'loss.weights={kind: gradient_norm}' --output refused
for name in config.yaml metrics.csv checkpoints; do
    diff -r refused/$name as-it-was/$name >diff.txt || complain "a refused resume changed $name"
done

# What a run would be.
expect 0 "$ralimp" train --check "${tiny_pinn[@]}"
expect_text out.txt '^  dense 2 -> 8, tanh +24 trained +24 deployed$'
expect_text out.txt '^  total +105 trained +105 deployed$'
expect_text out.txt '^memory: [0-9.]+ MB'
expect 0 "$ralimp" train "${tiny_pinn[@]}" --print-config
expect_text out.txt '^  width: 8  # '
cp out.txt printed.yaml
expect 0 "$ralimp" train --print-config printed.yaml
diff out.txt printed.yaml || complain "the printed config does not mean the same"
[[ ! -e runs/burgers_quick-1 && ! -e runs/printed-1 ]] || complain "--check or --print-config wrote"

for command in "" train evaluate predict render export inspect; do
    expect 0 "$ralimp" $command --help
    expect_text out.txt "^Usage: ralimp $command"
done
# How a run goes on is found where one looks for it.
expect 0 "$ralimp" --help
expect_text out.txt '^  train .*goes on with a run|goes on with a run that'
expect 0 "$ralimp" train --help
expect_text out.txt '^  --resume auto\|never\|PATH'
expect 0 "$ralimp" --version

finish

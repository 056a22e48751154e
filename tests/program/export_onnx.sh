# Exported ONNX files computed by the reference implementation of the onnx package, beside what ralimp predicts
# of the run. Skipped where that package is missing.  usage: export_onnx.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"
mkdir programs  # no pictures
python=${RALIMP_VENV:-$source_folder/.venv-peers}/bin/python
if ! "$python" -c 'import onnx.reference' 2>err.txt; then
    echo "skipped: $(tail -n 1 err.txt); tests/bench/install_peers makes an environment with the onnx package"
    exit 77
fi
export PATH=$work/programs:$PATH

compare() { # NAME CHANGES…
    local name=$1
    shift
    expect 0 "$ralimp" train "${tiny_pinn[@]}" training.phases.0.steps=5 training.phases.1.steps=2 \
        --output "$name" "$@"
    expect 0 "$ralimp" export "$name" --format onnx
    expect 0 "$ralimp" predict "$name" --grid 21x11 --output "$name.csv"
    expect 0 "$ralimp" predict "$name" --points "$name.csv" --output "$name-points.csv"
    expect 0 "$python" "$source_folder/tests/program/check_onnx.py" "$name/deployed.onnx" "$name-points.csv"
    cat out.txt
}
for precision in float32 float64; do
    compare dense-$precision precision=$precision
    for norm in exact projected none; do
        compare $norm-$precision precision=$precision \
            "network.hidden={kind: ralimp, features: 3, norm: $norm}"
    done
done
for split in phase_input symmetric; do
    for norm in exact projected none; do
        compare $split-$norm precision=float64 \
            "network.hidden={kind: ralimp, features: 4, split: $split, norm: $norm}"
    done
done
for hidden in 'eugen, features: 4' monarch tensor_train 'low_rank, rank: 3' 'snnk, form: urf' 'narrow, width: 7' \
    'ralimp, features: 4, degree: 3, share_rows: false'; do
    compare "${hidden%%,*}-steps" precision=float64 "network.hidden={kind: $hidden}"
done
for activation in sin gelu silu wire finer softplus; do
    compare $activation network.activation=$activation
done

# A comparison that cannot fail would show nothing.
awk -F, -v OFS=, 'NR == 9 { $3 += 1e-6 } 1' dense-float64-points.csv >wrong.csv
expect 1 "$python" "$source_folder/tests/program/check_onnx.py" dense-float64/deployed.onnx wrong.csv
expect_text out.txt 'FAILED: more than'

finish

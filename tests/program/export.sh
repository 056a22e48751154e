# ralimp export of networks, and what it says to bad usage.
# usage: export.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"
mkdir programs  # no pictures
export PATH=$work/programs:$PATH

hidden='network.hidden={kind: ralimp, features: 3, norm: projected}'
declare -A file_of=([safetensors]=deployed.safetensors [onnx]=deployed.onnx [hdf5]=deployed.h5)
for task in pinn siren sdf layer; do
    declare -n config=tiny_$task
    expect 0 "$ralimp" train "${config[@]}" "$hidden" training.phases.0.steps=3 --output "$task"
    for format in "${!file_of[@]}"; do
        file=$task/${file_of[$format]}
        expect 0 "$ralimp" export "$task" --format "$format"
        expect_text out.txt "^$file\$"
        [[ -s $file ]] || complain "no $file"
        expect 0 "$ralimp" export "$task" --format "$format" --output other --checkpoint best
        [[ -s other ]] || complain "$task as $format: --output was not followed"
        rm other
        expect 0 "$ralimp" export "$task" --format "$format" --output again
        cmp "$file" again || complain "$task as $format: not the same bytes twice"
    done
done

# The same tensors, by the same names, in both files.
tensors_of() { "$ralimp" inspect "$1" | grep -E '^  network/'; }
tensors_of siren/deployed.h5 >one.txt
tensors_of siren/deployed.safetensors | diff one.txt - || complain "other tensors in safetensors"
(($(wc -l <one.txt) >= 8)) || complain "few tensors: $(cat one.txt)"
expect 0 "$ralimp" inspect siren/deployed.safetensors
expect_text out.txt '^safetensors siren/deployed.safetensors$'
expect_text out.txt '^  step_1.degree +1$'
expect_text out.txt '^config:$'
expect_text out.txt '^kind: siren$'

# Bad usage.
for format in stl '' PLY "safetensors,hdf5"; do
    expect_error 2 '--format' "$ralimp" export siren --format "$format"
done
expect_error 2 '--format' "$ralimp" export siren --format
expect_error 2 'surfaces are those of sdf runs, not siren; --format safetensors' "$ralimp" export siren
expect_error 2 'surfaces are those of sdf runs, not pinn' "$ralimp" export pinn --format ply
for format in "${!file_of[@]}"; do
    expect_error 2 '--resolution: is for --format ply' "$ralimp" export sdf --format "$format" --resolution 9
    expect_error 2 '--memory: is for --format ply' "$ralimp" export sdf --memory 1 --format "$format"
    expect_error 3 'nowhere: does not exist' "$ralimp" export nowhere --format "$format"
    expect_error 4 'no/such: cannot be written' "$ralimp" export siren --format "$format" --output no/such
    expect_error 3 'none.h5: cannot be read' "$ralimp" export siren --format "$format" --checkpoint none.h5
done
printf 'short' >broken.safetensors
expect_error 3 'broken.safetensors: 5 bytes are no safetensors file' "$ralimp" inspect broken.safetensors
head -c 300 siren/deployed.safetensors >broken.safetensors
expect_error 3 'broken.safetensors: a header of' "$ralimp" inspect broken.safetensors

# Steps that are no chains, in every format.
for kind in eugen monarch; do
    expect 0 "$ralimp" train "${tiny_siren[@]}" "network.hidden={kind: $kind}" training.phases.0.steps=2 \
        --output "$kind"
    for format in "${!file_of[@]}"; do
        expect 0 "$ralimp" export "$kind" --format "$format"
        [[ -s $kind/${file_of[$format]} ]] || complain "no $format of $kind"
    done
    tensors_of "$kind/deployed.h5" >one.txt
    tensors_of "$kind/deployed.safetensors" | diff one.txt - || complain "$kind: other tensors in safetensors"
done

finish

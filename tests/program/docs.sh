# What the texts name exists: every command and flag, every key of a config, every YAML block; and
# every shipped config can be read.  usage: docs.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"
texts=("$source_folder/README.md" "$source_folder"/docs/*.md "$source_folder/configs/README.md")
export RALIMP_DATA=$work/data  # named, never read
export HOME=$work

# Configs, from another working directory than their own.
configs=("$source_folder"/configs/*/*.yaml)
((${#configs[@]} > 20)) || complain "only ${#configs[@]} configs"
runs=() # those of a run; the others are of a comparison
for file in "${configs[@]}"; do
    if [[ $file == "$source_folder/configs/compare/"* ]]; then
        expect 0 "$ralimp" compare "$file" --print-config
    else
        runs+=("$file")
        expect 0 "$ralimp" train "$file" --print-config
    fi
done
# Their table has each of them once, and no other.
sed -nE 's/^\| `([a-z_]+\/[a-z_]+\.yaml)` \|.*/\1/p' "$source_folder/configs/README.md" | sort >listed.txt
printf '%s\n' "${configs[@]#"$source_folder/configs/"}" | sort | diff listed.txt - >diff.txt ||
    complain "configs/README.md: $(cat diff.txt)"

# Commands and their flags.
expect 0 "$ralimp" --help
mapfile -t commands < <(sed -nE '/^Subcommands:/,$ s/^  ([a-z]+) .*/\1/p' out.txt)
((${#commands[@]} >= 7)) || complain "the commands are unknown: $(cat out.txt)"
flags_of() { "$ralimp" "$@" --help | grep -oE -- '--[a-z][a-z-]*' | sort -u; }
for command in "${commands[@]}"; do flags_of "$command" >"flags-$command"; done
flags_of >flags-program
checked=0
while IFS= read -r line; do
    command=$(sed -nE 's/.*ralimp ([a-z]+) .*/\1/p' <<<"$line ")
    [[ -e flags-$command ]] || complain "no command '$command': $line"
    # Up to the end of the code; what follows is prose.
    for flag in $(sed -E 's/.*ralimp [a-z]+ //; s/`.*//' <<<"$line" | grep -oE -- '--[a-z][a-z-]*'); do
        grep -qxF -- "$flag" "flags-$command" || complain "ralimp $command has no $flag: $line"
        checked=$((checked + 1))
    done
done < <(grep -hE '^    ralimp [a-z]|^build/ralimp [a-z]|`(build/)?ralimp [a-z]' "${texts[@]}" |
    grep -oE 'ralimp [a-z]+ .*')
((checked > 25)) || complain "only $checked flags were found in the texts"
while read -r flag; do
    grep -qxF -- "$flag" flags-* || complain "no command has $flag, which a text names"
done < <(grep -hv 'tests/\|scripts/' "${texts[@]}" | grep -oE -- '`--[a-z][a-z-]*' | tr -d '`' | sort -u)

# Keys: each is one of some config.
cat >custom.yaml <<'END'
kind: pinn
problem: {kind: custom, equations: [u_x], conditions: [{kind: dirichlet, values: [0]}]}
END
keys=0
while read -r key; do
    keys=$((keys + 1))
    known=no
    for file in "${runs[@]}" custom.yaml; do
        "$ralimp" train "$file" "$key=[{}]" --print-config >out.txt 2>err.txt && known=yes
        grep -qE "unknown key|there is no item|is a list; name|named where" err.txt || known=yes
        [[ $known == yes ]] && break
    done
    [[ $known == yes ]] || complain "no config has the key $key, which a text names: $(cat err.txt)"
done < <(grep -hoE '`[a-z_]+(\.[a-z_0-9]+)+`' "${texts[@]}" | tr -d '`' |
    grep -vE '\.(yaml|html|h5|hdf5|safetensors|onnx|png|csv|txt|json|wav|ply|obj|cpp|cu|h|py|md|data)$' | sort -u)
((keys > 12)) || complain "only $keys keys were found in the texts"

# YAML blocks; parts of a config are those of a PINN.
blocks=0
for text in "${texts[@]}"; do
    awk -v prefix="$(basename "$text" .md)-" '/^```yaml$/ {inside = 1; n++; next} /^```$/ {inside = 0}
        inside {print > (prefix n ".yaml")}' "$text"
done
mkdir pinn && cp "$source_folder/configs/pinn/burgers.yaml" pinn/
mkdir blocks && mv ./*-[0-9]*.yaml blocks/
for file in blocks/*.yaml; do
    blocks=$((blocks + 1))
    if grep -q '^run:' "$file"; then
        expect 0 "$ralimp" compare "$file" --print-config
        continue
    fi
    grep -qE '^(kind|base):' "$file" || sed -i '1i kind: pinn' "$file"
    expect 0 "$ralimp" train "$file" --print-config
done
((blocks >= 6)) || complain "only $blocks blocks of YAML were found in the texts"

finish

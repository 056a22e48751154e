#!/usr/bin/env bash
# Runs every command of the README, those in its ```bash blocks, in their order.
# usage: slow_readme.sh RALIMP SOURCE_FOLDER
set -euo pipefail
ralimp=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$source/configs" configs

# scripts/train is set-up and build, tested apart, and then this very program.
mapfile -t commands < <(awk '/^```bash$/ {inside = 1; next} /^```$/ {inside = 0} inside && NF' "$source/README.md")
((${#commands[@]} >= 8)) || { echo "only ${#commands[@]} commands found in README.md"; exit 1; }
for command in "${commands[@]}"; do
    line=${command/#scripts\/train/$ralimp train}
    line=${line/#build\/ralimp/$ralimp}
    [[ $line != "$command" ]] || { echo "no way to test: $command"; exit 1; }
    echo "== $command"
    eval "$line" >out.txt 2>&1 || { code=$?; cat out.txt; echo "exit code $code: $command"; exit 1; }
    tail -n 3 out.txt
done

# What the text promises of them.
grep -q '^relative_l2' <("$ralimp" evaluate runs/burgers_quick-1)
for file in config.yaml log.txt metrics.csv result.json checkpoints pictures/solution.png pictures/loss.png; do
    [[ -e runs/short/$file ]] || { echo "runs/short/$file is missing"; exit 1; }
done
[[ -s runs/tanh.png && -s runs/short-pictures/solution.png ]]

# The configs in the texts: that of the README trains, those of docs/problems.md can be built.
blocks() { awk -v prefix="$2" '/^```yaml$/ {inside = 1; n++; next} /^```$/ {inside = 0}
    inside {print > (prefix n ".yaml")}' "$1"; }
blocks "$source/README.md" readme-
"$ralimp" train readme-1.yaml points.residual=1000 training.phases.0.steps=500 \
    training.phases.1.steps=100 --output runs/readme >out.txt 2>&1 || { cat out.txt; exit 1; }
awk '$1 == "relative_l2" {found = $2} END {exit !(found < 0.5)}' out.txt ||
    { cat out.txt; echo "the config of the README does not train"; exit 1; }
blocks "$source/docs/problems.md" problem-
for file in problem-*.yaml; do
    "$ralimp" train "$file" --check >out.txt 2>&1 || { cat out.txt; echo "docs/problems.md: $file"; exit 1; }
done

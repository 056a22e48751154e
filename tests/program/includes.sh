# Dependencies run one way: core <- autograd <- layers <- trainers, core <- optim <- trainers,
# core <- data <- trainers. Reads every #include.  usage: includes.sh PROGRAM SOURCE_FOLDER
set -euo pipefail

declare -A may_use=(
    [core]="core"
    [autograd]="core autograd"
    [layers]="core autograd layers"
    [optim]="core optim"
    [data]="core data"
    [trainers]="core autograd layers optim data trainers"
)
cuda_header='^(cuda|cublas|cudnn|curand|cusolver|cusparse|cufft|nccl|nvtx|nvToolsExt|thrust/|cub/|mma\.h|cooperative_groups)'
# Numbers know nothing of files and configs.
core_stranger='^(yaml-cpp/|hdf5|H5|nlohmann/|CLI/|png\.h|jpeglib\.h)'

# Prints each violation in the tree given; succeeds when there is none.
violations() {
    local tree=$1 folder file number include target found=0
    for folder in core autograd layers optim data trainers; do
        [[ -d $tree/$folder ]] || continue
        while IFS=: read -r file number include; do
            file=${file#"$tree/"}
            if [[ $include =~ [\<\"]([^\>\"]+)[\>\"] ]]; then
                include=${BASH_REMATCH[1]}
            else
                echo "$file:$number: cannot read this #include: $include"
                found=1
                continue
            fi
            target=${include%%/*}
            if [[ $include == *..* ]]; then
                echo "$file:$number: $include: include from the root of the tree"
            elif [[ -n ${may_use[$target]:-} && $include == */* &&
                    " ${may_use[$folder]} " != *" $target "* ]]; then
                echo "$file:$number: $folder must not include $include"
            elif [[ $include =~ $cuda_header && $file != core/cuda/* ]]; then
                echo "$file:$number: $include: CUDA headers belong in core/cuda only"
            elif [[ $folder == core && $include =~ $core_stranger ]]; then
                echo "$file:$number: core must not include $include"
            else
                continue
            fi
            found=1
        done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include' "$tree/$folder" \
            --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh')
    done
    return $found
}

# The check itself must see what it looks for.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
expect_caught() {
    local file=$planted/$1
    mkdir -p "$(dirname "$file")"
    printf '#include <vector>\n  # include %s\n' "$2" >"$file"
    if violations "$planted" >/dev/null; then
        echo "the check does not notice '#include $2' in $1"
        exit 1
    fi
    rm "$file"
}
expect_caught core/shape.h '"autograd/graph.h"'
expect_caught core/cpu/copy.cpp '<layers/linear.h>'
expect_caught autograd/graph.cpp '"layers/linear.h"'
expect_caught layers/linear.h '"optim/adam.h"'
expect_caught optim/adam.h '"layers/linear.h"'
expect_caught optim/adam.h '"autograd/graph.h"'
expect_caught data/image.h '"autograd/operations.h"'
expect_caught data/image.h '"trainers/config.h"'
expect_caught layers/linear.cpp '"../trainers/config.h"'
expect_caught trainers/loop.cpp '<cuda_runtime.h>'
expect_caught core/cpu/matmul.cpp '"cublas_v2.h"'
expect_caught core/tensor.cpp '<yaml-cpp/yaml.h>'
mkdir -p "$planted"/core/cuda "$planted"/trainers
echo '#include <cuda_runtime.h>' >"$planted/core/cuda/launch.h"
printf '#include "layers/linear.h"\n#include <vector>\n' >"$planted/trainers/loop.cpp"
if ! violations "$planted"; then
    echo "the check complains about a right include"
    exit 1
fi

files=$(find "$2"/{core,autograd,layers,optim,data,trainers} -name '*.cpp' 2>/dev/null | wc -l || true)
if ((files < 5)); then
    echo "only $files source files found under $2: is this the right folder?"
    exit 1
fi
violations "$2"

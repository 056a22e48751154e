# Every source file is formatted by .clang-format.  usage: format.sh PROGRAM SOURCE_FOLDER
set -euo pipefail
if ! command -v clang-format-14 clang-format >/dev/null; then
    echo "skipped: clang-format is not installed"
    exit 77
fi
exec "$2/scripts/format" --check

# In a script with pipefail nothing may be piped into a command that stops reading early: what writes is
# then killed by SIGPIPE now and then, and the pipe fails though the text was found.
# usage: pipes.sh PROGRAM SOURCE_FOLDER
set -uo pipefail
cd "$2" || exit 1

early='(^|[^|])\|[[:space:]]*(e?grep[[:space:]]+-[a-zA-Z]*(q|m1)|head([[:space:]]|$)|sed[[:space:]][^|]*[0-9]q)'
violations() { # FILES…
    grep -nHE "$early" "$@"
}

# The check itself must see what it looks for, and that alone.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
for line in 'ldd x | grep -q libasan' 'ls | grep -Fqx a' 'find . | head -1' 'cat x |head' "cat x | sed -n '3q'"; do
    echo "$line" >"$planted/script"
    violations "$planted/script" >/dev/null || { echo "the check does not notice: $line"; exit 1; }
done
for line in 'grep -q a file' '[[ -n $x ]] || head -1 file' 'ls | grep -c a' 'ls | tail -1' "cat x | sed 's/q//'"; do
    echo "$line" >"$planted/script"
    violations "$planted/script" && { echo "the check complains about: $line"; exit 1; }
done

mapfile -t scripts < <(grep -lE '^set -.*pipefail|run\.bash' -r scripts tests .ci | grep -v '/pipes\.sh$')
((${#scripts[@]} > 10)) || { echo "only ${#scripts[@]} scripts found"; exit 1; }
violations "${scripts[@]}" && exit 1
exit 0

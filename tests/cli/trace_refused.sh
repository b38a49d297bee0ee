# Each of these files must be refused, or read up to where it breaks: nothing else may happen.
for file in "$(dirname "$0")"/../refused/*.tracy; do
    echo "== $(basename "$file")"
    (cd "$(dirname "$file")" && "$strobe" info "$(basename "$file")" 2>&1 > /dev/null)
    echo "exit code $?"
done

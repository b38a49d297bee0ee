# Streams of real clients, one of each version: all give the same trace, times apart.
fixtures=$(dirname "$examples")/tests/fixtures/wire
summary() {
    "$strobe" export -u "$1" 2>&1 | cut -d, -f1,3 | sort | uniq -c
    "$strobe" export -m "$1" 2>&1 | cut -d, -f1 | sort | uniq -c
    "$strobe" export -g "$1" 2>&1 | cut -d, -f1,2 | sort | uniq -c
    "$strobe" info --tracks "$1" 2>&1 |
        grep -E '^(threads|zones|devices|lanes|device zones|messages|frame sets|frames|plots|allocations|locks|lock events) |zones  '
}
for journal in "$fixtures"/*.journal; do
    echo "$(basename "$journal") $("$strobe" info "$journal" > /dev/null 2>&1 && echo whole)"
    # The value of a zone is shown in base 16 as well from 0.12 on.
    summary "$journal" | sed -E 's/ \[0x[0-9a-f]+\]//' > this
    [ -f first ] || cp this first
    diff first this
done
cat first

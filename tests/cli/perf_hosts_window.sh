# Each host has its own clock, so each is cut at its own signpost.
. "$(dirname "$0")/header.inc"
mark() { echo "go,signpost,,,,,,,,$1"; }
{ echo "$header"; matmul 1 HiFi4 64 100000; mark 2; matmul 3 HiFi4 64 300000; } > a.csv
{ echo "$header"; matmul 1001 HiFi4 64 100000; mark 1002; matmul 1003 HiFi4 64 300000; } > b.csv
"$strobe" perf -q a.csv b.csv --no-merge-devices --csv - --no-summary --no-advice 2> /dev/null | cut -d, -f1,5,6

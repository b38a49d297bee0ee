# Numbers that no run can have are refused, not computed with.
. "$(dirname "$0")/header.inc"
{ echo "$header"; matmul 1 HiFi4 0 100000; matmul 2 HiFi4 -4 100000; matmul 3 HiFi4 64 -5; } > report.csv
"$strobe" perf -q report.csv --no-advice --no-summary 2>&1

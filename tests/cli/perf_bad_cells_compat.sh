# The same where the original would end in a traceback.
. "$(dirname "$0")/header.inc"
{ echo "$header"; matmul 1 HiFi4 64 100000; matmul 2 HiFi9 64 100000; matmul 3 LoFi 64 0; } > report.csv
"$strobe" perf --compat report.csv --no-advice --no-summary 2>&1

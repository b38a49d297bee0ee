# Bad cells: a warning that names row and column, a neutral value, the rest complete, exit 3.
. "$(dirname "$0")/header.inc"
{
    echo "$header"
    matmul 1 HiFi4 64 100000
    matmul 2 HiFi9 64 100000
    matmul 3 HiFi4 many 100000
    matmul 4 HiFi4 64 0
    matmul 5 HiFi4 64 inf
    matmul 6 HiFi4 64 ''
    matmul 7 HiFi4 64 100000 x
    matmul 8 HiFi4 64 100000 | cut -d, -f1-14
    matmul 9 HiFi4 64 100000 | sed 's/$/,surplus/'
    matmul 10 HiFi4 64 100000 | sed 's/tt_dnn_device//'
    matmul 11 HiFi4 64 100000 | head -c 60
} > report.csv
"$strobe" perf -q report.csv --no-advice 2>&1

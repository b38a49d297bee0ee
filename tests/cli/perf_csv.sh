"$strobe" perf "$examples/perf/decoder_wormhole" --csv rows.csv --raw-op-codes --no-advice 2>&1
head -n 6 rows.csv | tr -d '\r'
cat rows_stacked.csv
head -c 8 rows_stacked.png | od -An -c | head -n 1
ls

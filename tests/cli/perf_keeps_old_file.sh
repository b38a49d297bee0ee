# A file that cannot be finished leaves the one of the last run alone, and nothing beside it.
echo old > rows.csv
trap '' XFSZ
(ulimit -f 1; "$strobe" perf -q "$examples/perf/decoder_wormhole" --csv rows.csv --no-summary 2>&1); echo $?
cat rows.csv
ls

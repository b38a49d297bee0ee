# A run that is ended from outside removes what it had not finished.
"$strobe" perf -q "$examples/perf/vision_blackhole" --csv rows.csv --no-summary && rm rows.csv
for i in $(seq 200); do cat "$examples"/perf/decoder_wormhole/*.csv; done > big.csv
"$strobe" perf -q big.csv --ignore-signposts --csv rows.csv --no-summary 2> /dev/null &
while [ -z "$(ls -A | grep unfinished)" ] && kill -0 $! 2> /dev/null; do :; done
kill -TERM $! 2> /dev/null
wait $! 2> /dev/null
ls -A | grep -c unfinished || true

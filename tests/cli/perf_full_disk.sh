"$strobe" perf -q "$examples/perf/decoder_wormhole" > /dev/full 2> errors; echo $?
cat errors
"$strobe" perf -q "$examples/perf/decoder_wormhole" --csv /dev/full 2>&1; echo $?

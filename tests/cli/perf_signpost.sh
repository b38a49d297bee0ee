report=$(ls "$examples"/perf/decoder_wormhole/*.csv)
"$strobe" perf -q "$report" --signpost measure --end-signpost 'token 1' --csv alias.csv --no-summary
"$strobe" perf -q "$report" --start-signpost measure --end-signpost 'token 1' --csv start.csv --no-summary
cmp alias.csv start.csv && wc -l < alias.csv
"$strobe" perf "$report" --start-signpost nowhere --top 1 --no-advice --no-summary 2>&1 | grep signpost

"$strobe" perf -q - --top 2 --no-advice --no-summary < "$(ls "$examples"/perf/decoder_wormhole/*.csv)" 2>&1

"$strobe" perf --compat "$examples"/perf/decoder_wormhole/*.csv --no-advice

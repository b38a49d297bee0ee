# Started under the original's name it takes that tool's command line and is in compat mode.
ln -s "$strobe" tt-perf-report
./tt-perf-report "$examples"/perf/decoder_wormhole/*.csv --no-adv --id-range 500-510 --no-sum > by_name
"$strobe" perf --compat "$examples"/perf/decoder_wormhole/*.csv --no-advice --id-range 500-510 --no-summary > by_option
cmp by_name by_option && head -n 12 by_name

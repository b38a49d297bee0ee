# A folder stands for the newest report in or below it.
mkdir -p reports/old reports/new
cp "$examples"/perf/decoder_wormhole/*.csv reports/old/ops_perf_results_old.csv
cp "$examples"/perf/vision_blackhole/*.csv reports/new/ops_perf_results_new.csv
touch -d 2020-01-01 reports/old/*.csv
"$strobe" perf reports --no-advice --no-summary --top 1 2>&1 | head -n 3

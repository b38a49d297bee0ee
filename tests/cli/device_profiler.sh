# Kernels of a program on a device, profiled: the log, the report made from it, and zones in the
# recording of the program.
gpt=$(dirname "$strobe")/tiny_gpt
[ -x "$gpt" ] || { echo "no tiny_gpt"; exit 77; }
export TT_METAL_DEVICE_PROFILER=1 TT_METAL_PROFILER_SUM=1 TT_METAL_PROFILER_DIR=out
export TT_METAL_PROFILER_SYCN=1
STROBE_OUT=run.rec "$gpt" --device emu:rows=2,cols=2 --layers 1 2>&1 > /dev/null | grep strobe:
unset TT_METAL_PROFILER_SYCN
head -n 2 out/.logs/profile_log_device.csv
cut -d, -f 4,11,12 out/.logs/profile_log_device.csv | grep -E 'MULTIPLY|FRONT' | sort | uniq -c
"$strobe" report out -n gpt --no-date 2>&1 | head -n 1
head -n 1 out/reports/gpt/zone_stats.csv
grep push out/reports/gpt/report.json
"$strobe" info run.rec | grep -E '^(devices|lanes|device zones)'
# Zones last as long in the recording as in the log.
awk -F, '$11 == "MULTIPLY" { total += $12 == "ZONE_END" ? $6 : -$6 } END { print total }' \
    out/.logs/profile_log_device.csv
"$strobe" export -g run.rec | awk -F, '$1 == "MULTIPLY" { total += $4 } END { print total }'

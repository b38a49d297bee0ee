# Values and events of kernels, buffers on the device and traces, in the recording of a program.
moments=$(dirname "$strobe")/device_moments
[ -x "$moments" ] || { echo "no device_moments"; exit 77; }
export TT_METAL_DEVICE_PROFILER=1 TT_METAL_MEM_PROFILER=1 TT_METAL_PROFILER_TRACE_TRACKING=1
TT_METAL_PROFILER_DIR=out STROBE_OUT=run.rec "$moments"
"$strobe" info run.rec | grep -E '^(devices|lanes|device zones|messages|allocations)'
"$strobe" export -g run.rec | cut -d, -f 1,2 | grep -v firmware | tail -n +2 | sort | uniq -c
"$strobe" export -m run.rec | grep -o 'TT_METAL_TRACE_[A-Z_]*: .*`'
# A value lies where the log has it: as far behind the start of its zone.
awk -F, '$11 == "WORK" && $12 == "ZONE_START" { begin = $6 }
         $11 == "rows" && $7 == 12 { print $6 - begin }' out/.logs/profile_log_device.csv | sort -u
"$strobe" export -g run.rec | awk -F, '$1 == "WORK" { begin[count++] = $3 }
    $1 == "rows = 12" { print $3 - begin[at++] }' | sort -u

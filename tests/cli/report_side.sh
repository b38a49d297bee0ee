# Clocks that were compared, the profiler's own zones, NoC traces: what the side file says of them.
python3 "$examples/../tests/report/make_logs.py" run --ops 3 --cores 2
logs=run/.logs
cat > $logs/sync_device_info.csv << 'END'
device id,core_x, core_y,device,host_tracy,host_real,write_overhead,host_start,delay,frequency,tracy_ratio,tracy_base_time,device_frequency_ratio,device_shift
    0,    1,    1,                1103,                 200,              100.00,                   10,                   0,             1000.00,   1.000000000000000,   0.500000000000000,                   0,,
    0,    1,    1,                1196,                 400,              200.00,                   30,                   0,             1000.00,   1.000000000000000,   0.500000000000000,                   0,,
    1,    1,    1,                1196,                 400,              200.00,                     ,                   0,             1000.00,                    ,   0.500000000000000,                   0,1.0,5
    1,    1,    1,                   x,                 400,              200.00,                   30,                   0,             1000.00,   1.000000000000000,   0.500000000000000,                   0,,
END
first=$(sed -n 3p $logs/profile_log_device.csv | cut -d, -f1-4)
printf '%s,77,5,0,1024,,,PROFILER-DRAM-PUSH,ZONE_START,1,f,\n%s,77,45,0,1024,,,PROFILER-DRAM-PUSH,ZONE_END,1,f,\n' "$first" "$first" >> $logs/profile_log_device.csv
cat > $logs/noc_trace_dev0_Matmul_ID1024.json << 'END'
[{"run_host_id": 1024, "zone": "BRISC-KERNEL", "zone_phase": "begin", "timestamp": 90},
 {"type": "READ", "num_bytes": 64, "timestamp": 100}, {"type": "WRITE_", "num_bytes": 32, "timestamp": 140},
 {"type": "WRITE_MULTICAST", "num_bytes": 96, "timestamp": 150}, {"type": "FABRIC_UNICAST_WRITE", "num_bytes": 8, "timestamp": 200}]
END
echo '[]' > $logs/noc_trace_dev0_ID2048_traceID8589934593.json
echo 'no JSON' > $logs/noc_trace_dev0_ID3072.json
"$strobe" report run --no-date --analyze-noc-traces -q
echo "exit code $?"
cat run/reports/noc_stats.csv
python3 -c '
import json
side = json.load(open("run/reports/report.json"))
print(side["clocks"], side["overhead"], side["problems"], side["losses"]["recording"], *side["notes"], sep="\n")'
echo "simulated:"
export PYTHONPATH=$examples/../tests/report/tt_npe
"$strobe" report run --no-date --analyze-noc-traces 2>&1 > /dev/null | grep -v PROFILER
python3 -c '
import csv
for row in csv.DictReader(open("run/reports/ops_perf_results.csv")):
    print(row["GLOBAL CALL COUNT"], *(row[c] for c in row if "UTIL" in c or "NPE" in c), sep="|")'
echo 'raise ValueError("broken")' > npe_analyze_noc_trace_dir.py
PYTHONPATH=. "$strobe" report run --no-date --analyze-noc-traces 2>&1 | grep -E "^ValueError|tt-npe"
echo 'import os; os.kill(os.getpid(), 9)' > npe_analyze_noc_trace_dir.py
PYTHONPATH=. "$strobe" report run --no-date --analyze-noc-traces 2>&1 | grep "tt-npe"
PYTHON=nothing "$strobe" report run --no-date --analyze-noc-traces 2>&1 | grep "tt-npe"
rm $logs/noc_trace_*
"$strobe" report run --no-date --analyze-noc-traces 2>&1 | grep note

# A file that libstrobe wrote, a trace and its journal give the same host's part of a report.
host=$(dirname "$strobe")/client_host_ops
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
rows() {
    "$strobe" report "$1" -o out --no-date --no-device 2>&1 | head -1
    cut -d, -f1-4 out/reports/ops_perf_results.csv | tr -d '\r'
    "$strobe" info out/reports/tracy_profile_log_host.tracy | grep -E '^(format|messages)' | cut -d, -f1
}
export TRACY_ONLY_LOCALHOST=1
STROBE_OUT=run.strobe "$host"
rows run.strobe
TRACY_PORT=$port TRACY_NO_EXIT=1 "$host" &
"$strobe" capture -p "$port" -o run.tracy --keep-journal --wait 20 > /dev/null 2>&1
wait
rows run.tracy > trace.txt
rows run.tracy.journal > journal.txt
sed 's/.*format/format/' trace.txt | tail -2
cmp trace.txt journal.txt && echo "the journal gives the same"
echo "a journal that was cut off, beside the logs of a device:"
python3 "$examples/../tests/report/make_logs.py" logs --ops 4 --cores 2
rm logs/.logs/tracy_ops_*.csv
head -c -20 run.tracy.journal > logs/.logs/tracy_profile_log_host.tracy.journal
"$strobe" report logs --no-date -q
echo "exit code $?"
python3 -c '
import json, re
side = json.load(open("logs/reports/report.json"))
print(sorted(side["clocks"]["host"]), side["clocks"]["sync"], side["overhead"])
print(re.sub("[0-9]+", "N", str(side["problems"][:1])), [l["count"] for l in side["losses"]["recording"]])'

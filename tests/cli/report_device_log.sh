# The device log alone: figures as text, everything behind them as JSON.
python3 "$examples/../tests/report/make_logs.py" run --ops 3 --cores 2
"$strobe" report run --setup test_multi_op
echo "exit code $?"
ls run/output/device
"$strobe" report run --setup default_setup -q
grep -A1 -h device_kernel_duration run/output/device/device_stats.txt | grep -v '^--'
python3 -c '
import json
data = json.load(open("run/output/device/device_analysis_data.json"))
device = data["data"]["devices"]["0"]["cores"]["DEVICE"]
print(sorted(data), data["data"]["deviceInfo"], len(device["riscs"]["TENSIX"]["ops"]))
print(device["analysis"]["device_brisc_kernel_duration"]["stats"])
print(device["riscs"]["TENSIX"]["timeseries"][0])'
"$strobe" report run --setup none 2>&1
"$strobe" report run --no-json 2>&1
"$strobe" report run --setup test_noc --stats 2>&1
head -c -9 run/.logs/profile_log_device.csv > log && cp log run/.logs/profile_log_device.csv
"$strobe" report run --setup test_noc -q --no-json 2>&1
echo "exit code $?"
rm run/.logs/profile_log_device.csv
"$strobe" report run --setup test_noc 2>&1
echo "exit code $?"

# Inputs that are no plain files, cannot be opened or are something else: said, and the rest is used.
python3 "$examples/../tests/report/make_logs.py" run --ops 2 --cores 2
logs=run/.logs
mkdir kept
mv $logs/profile_log_device.csv kept/
try() {
    echo "$1:"
    "$strobe" report run --no-date -q
    echo "exit code $?"
    python3 -c 'import json; print(*json.load(open("run/reports/report.json"))["problems"], sep="\n")'
    rm -rf run/reports "$logs/profile_log_device.csv"
}
mkdir $logs/profile_log_device.csv
try "a folder"
mkfifo $logs/profile_log_device.csv
try "a pipe"
ln -s profile_log_device.csv $logs/profile_log_device.csv
try "a link to itself"
cp kept/profile_log_device.csv $logs/
rm $logs/tracy_ops_times.csv
mkdir $logs/tracy_ops_times.csv
try "a folder among the host's files"
mkdir other
echo "a,b" > other/notes.txt
"$strobe" report other/notes.txt 2>&1
echo "exit code $?"

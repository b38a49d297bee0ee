# With --strict nothing is written if anything is missing.
python3 "$examples/../tests/report/make_logs.py" run --ops 3 --cores 1
sed -i 2d run/.logs/tracy_ops_times.csv
"$strobe" report run --strict 2>&1
echo "exit code $?"
test ! -e run/reports && echo nothing written

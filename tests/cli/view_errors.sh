"$strobe" view 2>&1
echo "code $?"
"$strobe" view nothing.tracy 2>&1
echo "code $?"
mkdir empty
"$strobe" view empty 2>&1
echo "code $?"
"$strobe" view x.tracy --from 1s 2>&1
echo "code $?"
"$strobe" view x.tracy --port 70000 2>&1
echo "code $?"
. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
"$strobe" view sample.tracy --listen nowhere 2>&1
echo "code $?"
"$strobe" view sample.tracy --static page.html --from 5us --to 2us 2>&1
echo "code $?"
ls page.html 2>&1
"$strobe" view x.tracy -o y.tracy 2>&1
echo "code $?"
"$strobe" view --live --static page.html 2>&1
echo "code $?"
"$strobe" view --live :80 2>&1
echo "code $?"
"$strobe" view sample.tracy --static sample.tracy 2>&1
echo "code $?"
ln -s sample.tracy page.html
"$strobe" view sample.tracy --static page.html 2>&1
echo "code $?"
"$strobe" info sample.tracy > info.txt && echo "the trace is there"
"$strobe" view sample.tracy --static later.html --from 100s 2>&1
echo "code $?"
# What is no trace: the message says what was expected.
echo "some text" > notes.txt
"$strobe" view notes.txt 2>&1
echo "code $?"
: > empty.tracy
"$strobe" view empty.tracy 2>&1
echo "code $?"
printf 'a,b\n1,2\n' > table.csv
"$strobe" view table.csv 2>&1
echo "code $?"
head -c 8 "$(dirname "$examples")/tests/fixtures/wire/protocol-82.journal" > run.tracy.journal
"$strobe" view run.tracy 2>&1
echo "code $?"
"$strobe" view run.tracy.journal 2>&1
echo "code $?"

# A folder of report folders: the newest of them, under its own name.
mkdir -p reports/one/2026_01_15 reports/one/2026_01_16
for day in 15 16; do
    cp "$examples"/perf/decoder_wormhole/*.csv reports/one/2026_01_$day/ops_perf_results_$day.csv
    touch -d "2026-01-$day" reports/one/2026_01_$day/ops_perf_results_$day.csv
done
"$strobe" view reports --static page2.html 2>&1
echo "code $?"
grep -o '"name":"2026[^"]*"' page2.html
"$strobe" view reports/one/2026_01_15/ --static page2.html 2>&1
grep -o '"name":"2026[^"]*"' page2.html
(cd reports/one/2026_01_15 && "$strobe" view . --static ../../../page2.html 2>&1)
grep -o '"name":"2026[^"]*"' page2.html
rm -r reports/one/2026_01_15
"$strobe" view reports/ --static page2.html 2>&1

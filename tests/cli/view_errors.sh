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

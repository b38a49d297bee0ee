. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
"$strobe" stats sample.tracy
"$strobe" stats sample.tracy --filter kid --sort name --csv
"$strobe" stats sample.tracy --devices --json --top 1
"$strobe" stats sample.tracy --from 'msg one' --to 9us --thread 'main thread' --csv
"$strobe" stats sample.tracy --from 9us --to 1us 2>&1
"$strobe" stats sample.tracy --from nowhere 2>&1
"$strobe" stats sample.tracy --json --csv 2>&1
# A whole name goes before one that only contains it.
sed 's/worker/thread/' sample.tracy > threads.tracy
"$strobe" info --tracks threads.tracy | grep 'zones  .*thread'
"$strobe" stats threads.tracy --thread thread --csv
"$strobe" stats threads.tracy --thread hread --top 1 --csv

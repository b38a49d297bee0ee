. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
"$strobe" stats sample.tracy
"$strobe" stats sample.tracy --filter kid --sort name --csv
"$strobe" stats sample.tracy --devices --json --top 1
"$strobe" stats sample.tracy --from 'msg one' --to 9us --thread 'main thread' --csv
"$strobe" stats sample.tracy --from 9us --to 1us 2>&1
"$strobe" stats sample.tracy --from nowhere 2>&1

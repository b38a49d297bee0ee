. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
"$strobe" info --tracks sample.tracy

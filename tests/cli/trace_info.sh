. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
"$strobe" info --tracks sample.tracy
"$strobe" info --json sample.tracy |
    python3 -c 'import json, sys; t = json.load(sys.stdin); print(sorted(t)); print(t["contexts"], t["tracks"][2], t["sections"]["zones"])'
# What the program said of itself, and what is missing of a recording that was cut off.
journal=$(dirname "$examples")/tests/fixtures/wire/protocol-82.journal
"$strobe" info "$journal" | grep application
head -c 4000 "$journal" > cut.journal
"$strobe" info cut.journal 2> /dev/null | grep 'lost .*cut off'

# The script must be valid, and complete commands, options, choices and files.
"$strobe" completion bash > script
bash -n script && source ./script
try() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _strobe
    echo "$*: ${COMPREPLY[*]}"
}
touch report.csv
try strobe p
try strobe perf --no-s
try strobe perf --group-by ""
try strobe perf rep
try tt-perf-report --raw
try strobe perf --csv rep

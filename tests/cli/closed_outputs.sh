# Started without standard streams, what is opened first must not become one of them: the link of
# the page would go to the program that is recorded, or into the journal.
tools=$(dirname "$strobe")
coproc "$tools/streamer" --zones 10000000 --rate 20000
read -r _ port <&"${COPROC[0]}"
program=$COPROC_PID
"$strobe" view --live "127.0.0.1:$port" -o a.tracy 0<&- >&- 2> errors &
recorder=$!
# The link cannot be printed, so that it ends by itself, with what there is.
wait "$recorder"
echo "exit $?"
grep -o 'standard output: .*' errors
kill "$program"
wait "$program" 2> /dev/null

coproc "$tools/streamer" --zones 100
read -r _ port <&"${COPROC[0]}"
program=$COPROC_PID
"$strobe" capture -o b.tracy -p "$port" 0<&- >&- 2>&-
echo "exit $?"
wait "$program"
"$strobe" export -u b.tracy | wc -l

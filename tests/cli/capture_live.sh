# Recording what is there: a listener that says nothing, a terminal, a program on demand, another
# address. Programs choose their ports, so that nothing else is in the way.
tools=$(dirname "$strobe")
script -qec true /dev/null < /dev/null > /dev/null 2>&1 ||
    { echo "skipped: script(1) cannot make a terminal here"; exit 77; }
start() { # the streamer with these options; $port is where it listens
    coproc "$tools/streamer" "$@"
    read -r _ port <&"${COPROC[0]}"
    program=$COPROC_PID
}

# Who answered, and what, is said also when the wait is over first.
start --silent
"$strobe" capture -o a.tracy -p "$port" --wait 0.5 2>&1 | sed "s/:$port/:PORT/; s/port $port/port PORT/"
ls
kill "$program"
wait "$program" 2> /dev/null

# On a terminal a line shows how far it is; the rate bounds how fast, so that there is time for it.
start --zones 60000 --rate 60000
script -qec "'$strobe' capture -o b.tracy -p $port" /dev/null < /dev/null > on_terminal
grep -aoE '(Mbit/s|% of|zones|MB memory|frames|questions behind)' on_terminal | sort -u
grep -ac 'zones     60000' on_terminal
wait "$program"

# A program that is built for it can be recorded again and again, here under another address.
free=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
TRACY_ON_DEMAND=1 TRACY_PORT=$free STROBE_ALL_INTERFACES=1 STROBE_NO_BROADCAST=1 \
    SUBJECT_QUIET=1 "$tools/client_subject" forever > /dev/null &
program=$!
for address in 127.0.0.1 127.0.0.2; do
    "$strobe" capture -q -f -o c.tracy -a "$address" -p "$free" -s 0.5 --wait 20 2>&1
    echo "$address: exit $?"
    [ "$("$strobe" export -u c.tracy | wc -l)" -gt 100 ] && echo "zones"
done
kill "$program"

# What cannot be forced to the disk may be gone tomorrow: the journal stays, and a warning says why.
ln -s /dev/null d.tracy
start --zones 100
"$strobe" capture -q -f -o d.tracy -p "$port" 2>&1
echo "exit $?"
wait "$program"
"$strobe" recover -o e.tracy d.tracy.journal > /dev/null && "$strobe" export -u e.tracy | wc -l

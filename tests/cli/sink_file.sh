# A file that a program recorded by itself is taken by every command as it is, and so is one whose
# program was killed. Its name has the process and the program in it.
subject=$(dirname "$strobe")/client_subject
[ -x "$subject" ] || { echo "no program to record"; exit 77; }
export TRACY_NO_BROADCAST=1
mkdir 'a folder'
STROBE_OUT='a folder/%n-%p 100%%.rec' "$subject" everything > /dev/null
ls 'a folder' | sed 's/-[0-9]*/-PID/'
mv 'a folder'/* run.rec

"$strobe" info run.rec | grep -E '^(format|program|threads|zones|messages|frames|plots) '
"$strobe" stats run.rec | awk 'NR > 2 { print $1 }' | sort | head -n 3
"$strobe" export run.rec | cut -d, -f1,6 | sort
"$strobe" export -u -p run.rec | grep -E '^(plot|whole),' | cut -d, -f1,7 | sort
"$strobe" export --json run.rec | python3 -c 'import json, sys; json.load(sys.stdin)'
"$strobe" recover run.rec -o run.tracy | grep -E '^(protocol|zones) '
"$strobe" export run.rec > direct.csv
"$strobe" export run.tracy > recovered.csv
cmp direct.csv recovered.csv
"$strobe" view run.rec --static page.html
grep -o '"program":"[a-z_]*"' page.html

# Killed: what was recorded is there, and is said to be a part.
STROBE_OUT=killed.rec "$subject" forever > counts.bin &
until [ "$(wc -c < counts.bin)" -ge 24 ]; do sleep 0.05; done
kill -9 $!
wait $! 2> /dev/null
"$strobe" export killed.rec 2>&1 > killed.csv | sed 's/.*: shown/shown/'
[ "$(wc -l < killed.csv)" -ge 2 ] && echo "zones of a killed program"
"$strobe" recover killed.rec -o killed.tracy > recovered.txt 2>&1
echo "exit $?"
"$strobe" info killed.tracy | grep '^program '

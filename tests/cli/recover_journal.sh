# A journal that was cut gives what comes before, and says so.
fixtures=$(dirname "$examples")/tests/fixtures/wire
cp "$fixtures/protocol-82.journal" run.tracy.journal
"$strobe" recover run.tracy.journal | sed 's/[0-9]* bytes/N bytes/'
echo "exit $?"
"$strobe" recover run.tracy.journal 2>&1
echo "exit $?"
"$strobe" recover -f run.tracy.journal -o run.tracy.journal 2>&1
cmp run.tracy.journal "$fixtures/protocol-82.journal"
head -c 4000 run.tracy.journal > cut.journal
"$strobe" recover cut.journal 2>&1 | sed 's/[0-9]* bytes/N bytes/'
"$strobe" recover -f cut.journal > /dev/null 2>&1
echo "exit $?"
"$strobe" recover "$fixtures/README.md" 2>&1 | sed 's|.*/||'
head -c 8 run.tracy.journal > empty.journal
"$strobe" recover empty.journal 2>&1
"$strobe" info "$fixtures/protocol-64.journal" 2>&1 | head -n 3

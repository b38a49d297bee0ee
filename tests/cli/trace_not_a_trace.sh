echo "hello, world" > text.tracy
"$strobe" info text.tracy 2>&1
echo "exit $?"
"$strobe" stats 2>&1
echo "exit $?"
"$strobe" convert one.tracy 2>&1
echo "exit $?"
"$strobe" convert a b --level 13 2>&1
echo "exit $?"

# One file: the page, its script and style, and the data; nothing in it points elsewhere.
. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
"$strobe" view sample.tracy --static page.html
echo "code $?"
head -c 15 page.html
echo
grep -c 'id="strobe-data"' page.html
grep -o '"program":"[a-z]*"' page.html
grep -oE '(src|href)="[^"]*"' page.html | sort -u

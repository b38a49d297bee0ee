printf 'name,age,town,colour,shoe\nA,1,B,red,40\n' > people.csv
"$strobe" perf people.csv 2>&1

# Started as tracy-capture it takes its options.
ln -s "$strobe" tracy-capture
./tracy-capture -o run.tracy -f -a 127.0.0.1 -p 1 -s 1 -m 50 --wait 0.2 2>&1
echo "exit $?"

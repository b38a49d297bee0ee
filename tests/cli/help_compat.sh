# Under the other tool's name the help carries that name.
ln -s "$strobe" tt-perf-report
./tt-perf-report --help | head -n 1

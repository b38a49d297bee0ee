printf 'OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns]\nstart,signpost,,\nx,python_fallback,,\n' > host.csv
"$strobe" perf host.csv 2>&1

printf 'ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\nPCIe slot, core_x\n0,1\n' > profile_log_device.csv
"$strobe" perf profile_log_device.csv 2>&1

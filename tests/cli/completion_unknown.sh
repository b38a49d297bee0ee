"$strobe" completion fish 2>&1

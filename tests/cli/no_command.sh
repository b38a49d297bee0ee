"$strobe" 2>&1

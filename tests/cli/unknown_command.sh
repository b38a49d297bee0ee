"$strobe" prof 2>&1

"$strobe" report --help

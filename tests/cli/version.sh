"$strobe" --version | sed -E 's/^strobe [0-9]+\.[0-9]+\.[0-9]+$/strobe VERSION/'

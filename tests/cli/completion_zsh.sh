command -v zsh > /dev/null || { echo "skipped: no zsh to check the script with"; exit 77; }
"$strobe" completion zsh > _strobe
head -n 1 _strobe
grep -c -- "'--" _strobe | awk '{ print ($1 > 25 ? "all options" : "too few options") }'
zsh -n _strobe && echo valid

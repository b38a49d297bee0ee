"""python -m tracy [OPTIONS] [-m MODULE | SCRIPT] [ARGUMENTS...]: the same as `strobe run`."""

import sys

from tracy import _strobe

_strobe.hand_over("run", *sys.argv[1:])

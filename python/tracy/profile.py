"""python -m tracy.profile [-h] [-o OUTPUT_PATH] [-p PORT] "test_command": the same as `strobe profile`."""

import sys

from tracy import _strobe

if __name__ == "__main__":
    _strobe.hand_over("profile", *sys.argv[1:])

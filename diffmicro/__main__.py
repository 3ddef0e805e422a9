"""`python -m diffmicro` is the command `diffmicro`."""

import sys

from diffmicro.command import main

if __name__ == "__main__":
    sys.exit(main())

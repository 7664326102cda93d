"""`python -m fissile`: the same as `fissile`."""

import sys

from fissile.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

"""The programs `fissile` and `fissile-opt`.

This is the first of their modules that is imported. From here on, Ctrl-C ends a program that has begun nothing yet without a traceback.
Once the imports are done, `run_program` cleans up after it.
"""

import os
import signal
import sys

PROGRAMS = ("fissile", "fissile-opt")

if (
    os.path.basename(sys.argv[0]) in PROGRAMS
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, signal.SIG_DFL)

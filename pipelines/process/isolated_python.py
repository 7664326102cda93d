"""How a child process of this Python is started without importing code from the folder that the user stands in."""

from __future__ import annotations

import sys

SAFE_PATH = "-P"
"""Python's option that keeps the working directory (with ``-m``) off the import path: a file `random.py` there is no module."""


def module_command(module: str, *arguments: str) -> list[str]:
    """The command line that runs ``module`` of this installation with ``arguments``."""
    return [sys.executable, SAFE_PATH, "-m", module, *arguments]

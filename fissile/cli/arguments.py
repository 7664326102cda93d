"""The argument parser of every command: what is wrong is one line, as any other error."""

from __future__ import annotations

import argparse
from typing import NoReturn

from fissile.errors import UsageError


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print its usage and end the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"{self.prog} --help lists the options")

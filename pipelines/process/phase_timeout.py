"""How long one step of a compile may take: the parse, a phase of IREE's, a pass of a user's. Code generation has `--dispatch-timeout`."""

from __future__ import annotations

import os
from pathlib import Path

from fissile.errors import UsageError
from fissile.option_values import seconds_or_none

VARIABLE = "FISSILE_PHASE_TIMEOUT"
OPTION = "--phase-timeout"
VALUE = "a number of seconds"
WAY_OUT = f"write {OPTION}=600, or 0 for no limit"
DEFAULT_SECONDS = 600.0
SECONDS_PER_MEBIBYTE = 10.0
"""What a step may take longer for each MiB of the input, unless the option says how long: constants are folded, hashed and copied."""


def phase_timeout(source: str | os.PathLike = "") -> float:
    """Seconds for one step of a compile of the file ``source``, of a processor; 0 is no limit. Raises UsageError."""
    if spelled := os.environ.get(VARIABLE, ""):
        return parse_seconds(spelled)
    try:
        size = Path(source).stat().st_size if source else 0
    except OSError:
        size = 0
    return DEFAULT_SECONDS + SECONDS_PER_MEBIBYTE * (size >> 20)


def parse_seconds(spelled: str) -> float:
    try:
        return seconds_or_none(spelled)
    except ValueError:
        raise UsageError(f"'{spelled}' is not a number of seconds", WAY_OUT) from None

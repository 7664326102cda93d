"""How long one step of a compile may take: the parse, a phase of IREE's, a pass of a user's. Code generation has `--dispatch-timeout`."""

from __future__ import annotations

import os
from pathlib import Path

from fissile.errors import UsageError

VARIABLE = "FISSILE_PHASE_TIMEOUT"
OPTION = "--phase-timeout"
DEFAULT_SECONDS = 600.0
SECONDS_PER_MEBIBYTE = 10.0
"""What a step may take longer for each MiB of the input, unless the option says how long: constants are folded, hashed and copied."""


def phase_timeout(source: str | os.PathLike = "") -> float:
    """Seconds for one step of a compile of the file ``source``, of a processor; 0 is no limit. Raises UsageError."""
    if spelled := os.environ.get(VARIABLE, ""):
        return _seconds(spelled)
    try:
        size = Path(source).stat().st_size if source else 0
    except OSError:
        size = 0
    return DEFAULT_SECONDS + SECONDS_PER_MEBIBYTE * (size >> 20)


def take_option(words: list[str]) -> list[str]:
    """``words`` without ``--phase-timeout=SECONDS``, which holds for this process and all that it starts."""
    rest, stop = [], words.index("--") if "--" in words else len(words)
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if index < stop and name == OPTION:
            if not equals:
                raise UsageError(
                    f"{OPTION} needs a number of seconds", f"write {OPTION}=600, or 0 for no limit"
                )
            _seconds(value)
            os.environ[VARIABLE] = value
        else:
            rest.append(word)
    return rest


def _seconds(spelled: str) -> float:
    try:
        seconds = float(spelled)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(f"'{spelled}' is no number of seconds", f"write {OPTION}=600, or 0 for no limit")
    return seconds

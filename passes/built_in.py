"""The names of fissile's own passes, read from their files: none is imported for it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOMS = ("checks", "remedies")
"""Folders of passes/ in which passes are defined."""
_NAMED = re.compile(r'^@register_pass\n(?:.*\n)*?    name: ClassVar\[str\] = "([a-z0-9-]+)"', re.M)


@cache
def built_in() -> dict[str, str]:
    """Pass name -> the module that defines it, for every file of ROOMS that registers a pass.

    A test holds this together with what the modules register.
    """
    here = Path(__file__).parent
    files = [file for room in ROOMS for file in sorted((here / room).rglob("*.py"))]
    named = ((file, _NAMED.search(file.read_text(encoding="utf-8"))) for file in files)
    parts = ((found[1], file.relative_to(here).with_suffix("").parts) for file, found in named if found)
    return {name: ".".join((__package__, *place)) for name, place in parts}

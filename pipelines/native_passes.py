"""The names of the passes that IREE registers: its bindings do not list them, iree-opt's help does."""

from __future__ import annotations

import re
from functools import cache

from fissile.errors import FissileError

from .native_programs import native_program
from .process.child import run_child

_SECTION = re.compile(r"^  Compiler passes to run\n((?:    .*\n)+)", re.MULTILINE)
_NAME = re.compile(r"^      --([a-z][\w.-]*)", re.MULTILINE)
"""A pass, or a pipeline that is registered as one; options of a pass stand further to the right."""
_SECONDS = 30.0


@cache
def native_pass_names() -> tuple[str, ...]:
    """In iree-opt's order; empty where it does not answer. It takes 0.4 s: for a message about a name that is not known."""
    try:
        printed = run_child([native_program("iree-opt"), "--help"], _SECONDS).out
    except FissileError:
        return ()
    section = _SECTION.search(printed)
    return tuple(_NAME.findall(section.group(1))) if section else ()

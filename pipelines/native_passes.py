"""What IREE's bindings do not say of its passes: their names, which iree-opt's help lists, and what is wrong with an option."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from tempfile import TemporaryFile

from fissile.errors import FissileError
from fissile.passes.iree.messages import FLAG_ERROR

from .native_programs import native_program
from .process.child import run_child

_SECTION = re.compile(r"^  Compiler passes to run\n((?:    .*\n)+)", re.MULTILINE)
_NAME = re.compile(r"^      --([a-z][\w.-]*)", re.MULTILINE)
"""A pass, or a pipeline that is registered as one; options of a pass stand further to the right."""
_SECONDS = 30.0


@contextmanager
def wrong_options(pipeline: str) -> Iterator[list[str]]:
    """The list gets LLVM's errors of the options in ``pipeline``, where the block, which parses it, throws: LLVM prints them on standard
    error, and throws without them."""
    found: list[str] = []
    if "{" not in pipeline:
        yield found
        return
    with TemporaryFile() as file:
        kept, threw = os.dup(2), True
        os.dup2(file.fileno(), 2)
        try:
            yield found
            threw = False
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            printed = file.read()
            found += [
                f"{option.lstrip('-')}: {wrong}"
                for option, wrong in FLAG_ERROR.findall(printed.decode(errors="replace"))
            ]
            if printed and not (threw and found):
                os.write(2, printed)


@cache
def native_pass_names() -> tuple[str, ...]:
    """In iree-opt's order; empty where it does not answer. It takes 0.4 s: for a message about a name that is not known."""
    try:
        printed = run_child([native_program("iree-opt"), "--help"], _SECONDS).out
    except FissileError:
        return ()
    section = _SECTION.search(printed)
    return tuple(_NAME.findall(section.group(1))) if section else ()

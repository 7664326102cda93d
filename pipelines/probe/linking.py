"""Does IREE's linker find every function that LLVM calls for a dispatch?

What a processor has no instruction for, LLVM leaves to a function of the C library or of its own runtime, by the target's features:
`fmaxf` for halves without F16C, `__truncsfbf2` for bfloat16. IREE links a few of those, and no library beside.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from iree.compiler import ir

from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.iree.messages import UNDEFINED_SYMBOL
from fissile.passes.iree.ops import HAL_EXECUTABLE
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT, SERIALISED_AT

from ..session import PhaseFailed, Session
from .diagnostics import Diagnostic


def standalone(dispatch: Dispatch) -> str:
    """The dispatch's executable as a module of its own, locations, tags and the bytes of constants included."""
    body = dispatch.executable.get_asm(enable_debug_info=True, use_local_scope=True, assume_verified=True)
    if "dense_resource<" not in body:
        return f"module {{\n{body}\n}}\n"
    # The bytes of a resource stand behind a whole module, never behind an op inside one.
    with dispatch.executable.context, ir.Location.unknown():
        module = ir.Module.create()
        module.body.append(dispatch.executable.operation.clone())
    return module.operation.get_asm(enable_debug_info=True, assume_verified=True)


def link(dispatch: Dispatch, flags: tuple[str, ...] = ()) -> Diagnostic | None:
    """Translates and links the executable of ``dispatch`` by IREE (0.2 to 1 s): the first function that is not found, or another error.

    ``flags`` are session flags beside those of the process (`library.initialise_command_line`).
    """
    session = _session(flags)
    # One that nobody outside can use would be dropped unlinked.
    module = session.parse_text(
        standalone(dispatch).replace(f"{HAL_EXECUTABLE} private", f"{HAL_EXECUTABLE} public", 1),
        "dispatch.mlir",
    )
    module.stands_at(DISPATCHES_CONFIGURED_AT)
    with _printed() as printed:
        try:
            session.run(module, SERIALISED_AT)
        except PhaseFailed as failed:
            unknown = [text.split(": ")[-1] for text in re.findall(UNDEFINED_SYMBOL, printed())]
            missing = f"undefined symbol: {', '.join(dict.fromkeys(unknown))}" if unknown else failed.message
            return Diagnostic("error", missing, missing)
    return None


@cache
def _session(flags: tuple[str, ...]) -> Session:
    return Session(flags)


@contextmanager
def _printed() -> Iterator:
    """Keeps what this process and its children write to standard error meanwhile; yields what returns it."""
    with tempfile.TemporaryFile() as kept:
        before = os.dup(2)
        os.dup2(kept.fileno(), 2)

        def text() -> str:
            kept.seek(0)
            return kept.read().decode(errors="replace")

        try:
            yield text
        finally:
            os.dup2(before, 2)
            os.close(before)

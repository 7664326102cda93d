"""FIS006: the input contains native code along, which runs as IREE evaluates constants, or names an object file."""

from __future__ import annotations

from fissile.finding import Finding
from fissile.passes.analysis.program.native_code import NativeCode

from .embedded_pipelines import ALLOW


def check_native_code(found: NativeCode) -> Finding:
    return Finding(
        "FIS006",
        f"the input contains native code: {found.spelled}"
        + ("" if found.holder == found.spelled else f" on {found.holder}"),
        subject=found.holder,
        places=(found.place,) if found.place else (),
        notes=(f"fissile did not run it; {ALLOW} compiles it, if you trust the file",),
    )

"""Keeps IREE from taking one global for another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.globals.chained_globals import VISIBILITY, chained_globals, globals_that_change
from fissile.passes.analysis.globals.fused_globals import fused_globals
from fissile.passes.definition import Contract, register_pass
from fissile.passes.options import option
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

from .named_globals import check_names


@register_pass
@dataclass(frozen=True)
class PublishGlobals(Remedy):
    """Makes public each global that IREE would take for another one (FIS184): it renames and fuses private ones only.

    Run it on the output of phase input, and of phase global-optimization. ``globals``: others that IREE fuses later; it is run on the output of
    phase flow for these.
    """

    globals: tuple[str, ...] = option(
        (), "The names of the globals to make public; without it, those that IREE takes for another one"
    )

    name: ClassVar[str] = "fissile-publish-globals"
    cures: ClassVar[tuple[str, ...]] = ("FIS184",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "makes globals public that IREE would take for another one"
    repairs: ClassVar[str] = (
        "wrong numbers on every target: a global into which another one, or a constant, is stored has its value from the start (FIS184)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "made the global public: IREE renames private ones only"
    advice: ClassVar[str] = "make the global public: IREE renames private ones only"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        check_names(self.globals, op, self.name)
        known = globals_that_change(op)
        named = [known[name] for name in self.globals if name in known]
        found = named if self.globals else [one.held for one in (*chained_globals(op), *fused_globals(op))]
        for held in found:
            held.attributes[VISIBILITY] = ir.StringAttr.get("public", op.context)

"""Keeps IREE from taking what a global holds for a value that is stored into it elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.finding import Finding
from fissile.passes.analysis.globals.accesses import mutable_tensors
from fissile.passes.analysis.host.on_host import ops_on_host
from fissile.passes.analysis.program.private_calls import FUNCTIONS
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.options import option
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

from .barriers import hide_operand
from .named_globals import check_names


@register_pass
@dataclass(frozen=True)
class HideStoredValues(Remedy):
    """Puts an optimisation barrier before each store of a tensor into a global, so that IREE does not follow the tensor to the loads
    of the global (FIS184), and so that an update in a loop does not wait for itself (FIS224). Run it on the output of phase flow.
    """

    globals: tuple[str, ...] = option(
        (), "The names of the globals; without it, all that hold a tensor and change"
    )
    branches: bool = option(False, "Put one before what branches yield to a store, too")

    name: ClassVar[str] = "fissile-hide-stored-values"
    cures: ClassVar[tuple[str, ...]] = ("FIS184", "FIS224")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "keeps IREE from following a tensor through a global to loads that may have something else"
    )
    repairs: ClassVar[str] = (
        "wrong numbers on every target: a load of a global has what a branch stores there that was not taken, or what another store "
        "has replaced (FIS184); loops that update a global in place, which IREE rejects (FIS224)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = (
        "put an optimisation barrier before what is stored: IREE does not follow that to the loads"
    )
    advice: ClassVar[str] = "put an optimisation barrier before what is stored"
    dialects: ClassVar[tuple[str, ...]] = ("flow", "tensor", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        check_names(self.globals, op, self.name)
        names = frozenset(self.globals) or mutable_tensors(op)
        for function in (one.operation for one in op.regions[0].blocks[0] if one.operation.name in FUNCTIONS):
            for store in ops_on_host(function):
                if store.name == iree_ops.UTIL_GLOBAL_STORE and text_of(store, "global") in names:
                    hide_operand(store, branches=self.branches)

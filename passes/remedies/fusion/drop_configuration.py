"""Takes from chosen ops the lowering configuration that the program gives them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.passes.analysis.dispatch.given_configuration import given_configuration
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.iree.attributes import CONFIGURATIONS
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED

from ..remedy import Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class DropConfiguration(OpRemedy):
    """Removes `compilation_info` and its like from chosen source ops; without ``ops``, from all.

    A configuration names a pipeline and tiles of one backend. On another, IREE 3.13 stops ("failed to build pass pipeline"). Without
    it IREE chooses its own. No number changes, except as sums are added up in another order.
    """

    name: ClassVar[str] = "fissile-drop-configuration"
    order: ClassVar[int] = 20
    cures: ClassVar[tuple[str, ...]] = ("FIS103", "FIS106", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "removes `compilation_info` and similar attributes from chosen ops"
    repairs: ClassVar[str] = "configurations made for another backend (`failed to build pass pipeline`)"
    numbers: ClassVar[str] = "identical except for the order of sums"
    counterpart: ClassVar[str] = (
        "StripCompilationInfo removes all configurations of a program, including those that work, and is not part of a "
        "compile."
    )
    done: ClassVar[str] = "dropped the configuration of {ops}: IREE chooses one for this target"
    advice: ClassVar[str] = "drop the configuration of {ops}: IREE chooses one for this target"
    refusal: ClassVar[str] = "{op} has no configuration to drop: {why}"
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: every op with a configuration")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return Match("" if given_configuration(op) else "the program gives it none")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        drop_configuration(ops)


def drop_configuration(ops: Iterable[ir.Operation]) -> None:
    for op in ops:
        for name in CONFIGURATIONS:
            if name in op.attributes:
                del op.attributes[name]

"""Takes from chosen ops the lowering configuration that the program gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.given_configuration import CONFIGURATIONS, given_configuration
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.definition import Contract, Pass, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED

from ..chosen_ops import check_indices


@register_pass
@dataclass(frozen=True)
class DropConfiguration(Pass):
    """Removes `compilation_info` and its like from chosen source ops; without ``ops``, from all.

    A configuration names a pipeline and tiles of one backend. On another, IREE 3.13 stops ("failed to build pass pipeline"). Without
    it IREE chooses its own. No number changes, except as sums are added up in another order.
    """

    name: ClassVar[str] = "fissile-drop-configuration"
    contract: ClassVar[Contract] = Contract(requires=(DISPATCHES_NOT_FORMED,))
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: every op with a configuration")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        known = source_ops(op)
        check_indices(self.ops, known, self.name)
        drop_configuration(
            [known[i] for i in self.ops] if self.ops else [o for o in known if given_configuration(o)]
        )


def drop_configuration(ops: Iterable[ir.Operation]) -> None:
    for op in ops:
        for name in CONFIGURATIONS:
            if name in op.attributes:
                del op.attributes[name]

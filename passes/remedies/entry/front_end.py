"""The base of the remedies that write an op of a front end with ops that IREE lowers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.dialect.places import ops_of
from fissile.finding import Finding, Severity
from fissile.passes.definition import Contract
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Remedy

from .torch_ops import front_end_name

FRONT_END_OP = "FIS421"
_MOST_PLACES = 4


@dataclass(frozen=True)
class FrontEndRemedy(Remedy):
    """Reports FIS421, repaired, or the failure that it cures, once for each kind of op that it replaces."""

    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP,)
    dialects: ClassVar[tuple[str, ...]] = ("torch",)
    candidates: ClassVar[tuple[str, ...]] = ("torch.",)
    """The names of ops that may fit; one that ends in a dot is a dialect."""
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))
    """A program may bring dispatches of its own beside such ops."""

    def fits(self, op: ir.Operation) -> bool:
        """Whether ``op`` is one that this remedy writes with others. It changes nothing."""
        raise NotImplementedError

    def named(self, op: ir.Operation) -> str:
        """What the front end calls ``op``."""
        return front_end_name(self.shown(op))

    def shown(self, op: ir.Operation) -> ir.Operation:
        """The op that a finding is about: another one where ``op`` unpacks the list that it gives."""
        return op

    def written(self, op: ir.Operation) -> list[ir.Value]:
        """Builds what takes the place of ``op``'s results, at the insertion point."""
        raise NotImplementedError

    def found(self, op: ir.Operation) -> list[ir.Operation]:
        """The ops inside ``op`` that fit."""
        return [one for name in self.candidates for one in ops_of(op, name) if self.fits(one)]

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        found = self.found(op)
        self.report(found, report)
        self.replace(found)

    def report(self, found: Iterable[ir.Operation], report: Callable[[Finding], None]) -> None:
        """FIS421, or the failure that this remedy cures, once for each kind of op."""
        rejected = FRONT_END_OP in self.cures
        kinds: dict[str, list[ir.Operation]] = {}
        for one in found:
            kinds.setdefault(self.named(one), []).append(one)
        for name, ops in kinds.items():
            both = [each for one in ops for each in (self.shown(one), one)]
            places = tuple(dict.fromkeys(place for one in both if (place := place_of(one))))
            count = "" if len(ops) == 1 else f", {len(ops)} times"
            report(
                Finding(
                    FRONT_END_OP if rejected else self.cures[0],
                    f"IREE has no lowering for {name} as it is used here{count}"
                    if rejected
                    else f"IREE computes {name} otherwise as it is used here{count}",
                    Severity.REPAIRED,
                    subject=name,
                    places=places[:_MOST_PLACES],
                    helps=(self.help(("pass", self.name), ("numerics", self.numbers)),),
                )
            )

    def replace(self, found: Iterable[ir.Operation]) -> None:
        """Puts what is `written` in the place of each op."""
        for one in found:
            with ir.InsertionPoint(one), one.location:
                values = self.written(one)
            for result, value in zip(one.results, values, strict=True):
                result.replace_all_uses_with(value)
            one.erase()

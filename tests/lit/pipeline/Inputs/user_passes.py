"""Passes as a user writes them: one reads, one breaks a contract, one throws."""

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding, Severity
from fissile.passes.definition import Contract, Pass, option, register_pass
from fissile.passes.properties import NO_BOUNDARIES


@register_pass
@dataclass(frozen=True)
class CountOps(Pass):
    """Tells how many ops a function has, where there are more than a limit."""

    name: ClassVar[str] = "user-count-ops"
    anchor: ClassVar[str] = "func.func"
    at_most: int = option(0, "no note up to this many ops")

    def run(self, op, report):
        count = len(list(op.regions[0].blocks[0].operations))
        if count > self.at_most:
            report(Finding("FIS003", f"{count} ops", Severity.NOTE, places=(place_of(op),)))


@register_pass
@dataclass(frozen=True)
class AddBoundary(Pass):
    """Adds a boundary where it promised that none is left."""

    name: ClassVar[str] = "user-add-boundary"
    contract: ClassVar[Contract] = Contract(establishes=(NO_BOUNDARIES,))

    def run(self, op, report):
        function = op.regions[0].blocks[0].operations[0]
        block = function.regions[0].blocks[0]
        argument = block.arguments[0]
        ir.Operation.create(
            "fissile.boundary", [argument.type], [argument], ip=ir.InsertionPoint.at_block_begin(block)
        )


@register_pass
@dataclass(frozen=True)
class Throws(Pass):
    """Throws."""

    name: ClassVar[str] = "user-throws"

    def run(self, op, report):
        raise KeyError("no such thing")

"""Where ops are: walking a module for ops by name, and an op's place in the source."""

from __future__ import annotations

import re

from iree.compiler import ir

from fissile.finding import Place

from .attributes import unescaped

TAG_FILE = "fz"
"""The file name of fissile's own location tags; a tag is no place in a source."""


_FILE = re.compile(r'(?:loc\()?"(?P<file>(?:[^"\\]|\\.)*)":(?P<line>\d+):(?P<column>\d+)')


def ops_of(root: ir.Operation, name: str) -> list[ir.Operation]:
    """Ops inside ``root``, itself included, in program order: those called ``name``, or, where it ends in
    a dot (`linalg.`), all ops of that dialect."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == name or (name.endswith(".") and op.name.startswith(name)):
            found.append(op)
        return ir.WalkResult.ADVANCE

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def place_of(op: ir.Operation) -> Place | None:
    """The place of ``op`` in the source, innermost first; None where the program carries none."""
    return place_of_location(op.location)


def place_of_location(location: ir.Location) -> Place | None:
    """The first source place inside ``location``, looked for from the inside out."""
    pending = [location]
    while pending:
        location = pending.pop()
        if type(location) is ir.Location:  # diagnostics carry locations without their concrete class
            location = ir.Location.from_attr(location.attr, context=location.context)
        if isinstance(location, ir.FileLineColLoc):
            # As text: to read a file name that is not UTF-8 ends the process (IREE 3.13).
            if (found := _FILE.match(str(location))) is None or found["file"] == TAG_FILE:
                continue
            file = found["file"] if "\\" not in found["file"] else unescaped(found["file"])
            return Place(file, int(found["line"]), int(found["column"]))
        if isinstance(location, ir.NameLoc):
            pending.append(location.child_loc)
        elif isinstance(location, ir.CallSiteLoc):
            pending += [location.caller, location.callee]
        elif isinstance(location, ir.FusedLoc):
            pending += reversed(location.locations)
    return None

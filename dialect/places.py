"""Where ops are: walking a module for ops by name, and an op's place in the source."""

from __future__ import annotations

from iree.compiler import ir

from fissile.finding import Place

TAG_FILE = "fz"
"""The file name of fissile's own location tags; a tag is no place in a source."""


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
    if type(location) is ir.Location:  # diagnostics carry locations without their concrete class
        location = ir.Location.from_attr(location.attr, context=location.context)
    if isinstance(location, ir.FileLineColLoc):
        file = _text(location.filename)
        return None if file == TAG_FILE else Place(file, location.start_line, location.start_col)
    if isinstance(location, ir.NameLoc):
        return place_of_location(location.child_loc)
    if isinstance(location, ir.CallSiteLoc):
        return place_of_location(location.callee) or place_of_location(location.caller)
    if isinstance(location, ir.FusedLoc):
        for part in location.locations:
            if place := place_of_location(part):
                return place
    return None


def _text(name: object) -> str:
    return name.value if isinstance(name, ir.StringAttr) else str(name).strip('"')

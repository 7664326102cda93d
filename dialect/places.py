"""Where ops are: walking a module for ops by name, and an op's place in the source."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from iree.compiler import ir

from fissile.finding import Place

from .attributes import unescaped
from .location_names import best_name, name_in

TAG_FILE = "fz"
"""The file name of fissile's own location tags; a tag is no place in a source."""
READ_TAG_FILE = "fz-read"
"""The same of the tags of transpositions that an op reads, on that op."""
BUDGET_FILE = "fz-budget"
"""The same of the budgets that are written into locations."""
NO_PLACES = (TAG_FILE, READ_TAG_FILE, BUDGET_FILE)
"""File names that fissile itself writes into locations."""

_MOST_NAMES = 100
"""Names that are read of one location; an input may nest any number."""
_MOST_AFTER = 1000
"""Locations that are looked through behind the place for a name beside it."""
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


def is_defined_inside(value: ir.Value, op: ir.Operation) -> bool:
    """Whether ``value`` is an op's result, or a block's argument, in a region of ``op``, at any depth."""
    owner = value.owner
    around = owner.owner if isinstance(owner, ir.Block) else owner.operation.parent
    while around is not None:
        if around.operation == op:
            return True
        around = around.operation.parent
    return False


def place_of(op: ir.Operation) -> Place | None:
    """The place of ``op`` in the source, innermost first; None where the program carries none."""
    return place_of_location(op.location)


def place_of_location(location: ir.Location) -> Place | None:
    """The first source place inside ``location``, looked for from the inside out, with the front end's name for it.

    A name around the place and all calls that lead to it comes before one inside a call, and that before one that stands
    beside the place (`fused["name", "file":1:2]`).
    """
    place: Place | None = None
    beside: list[str] = []
    named = after = 0
    pending = [_Inside(location)]
    while pending and after < _MOST_AFTER:
        after += place is not None
        here = pending.pop()
        location = here.location
        if type(location) is ir.Location:  # diagnostics carry locations without their concrete class
            location = ir.Location.from_attr(location.attr, context=location.context)
        if isinstance(location, ir.FileLineColLoc):
            if place is None and (place := _file_place(location)) is not None:
                if name := best_name(here.names, place.file) or best_name(here.frames, place.file):
                    return replace(place, name=name)
        elif isinstance(location, ir.NameLoc):
            named += 1
            name = name_in(str(location)) if named <= _MOST_NAMES else ""
            pending.append(here.named(location.child_loc, name))
        elif isinstance(location, ir.CallSiteLoc):
            pending += [
                _Inside(part, here.names, here.frames, True) for part in (location.caller, location.callee)
            ]
        elif isinstance(location, ir.FusedLoc):
            pending += [
                _Inside(part, here.names, here.frames, here.called) for part in reversed(location.locations)
            ]
        else:
            beside += [*here.names, *here.frames]
    return replace(place, name=best_name(beside, place.file)) if place is not None else None


def names_of_places(root: ir.Operation) -> dict[Place, str]:
    """What the front end calls the places of the ops inside ``root``: for who has a place as text, as a diagnostic has."""
    found: dict[Place, str] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if isinstance(op.location, ir.FileLineColLoc):
            return ir.WalkResult.ADVANCE
        if (place := place_of(op)) is not None and place.name:
            found.setdefault(place, place.name)
        return ir.WalkResult.ADVANCE

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


class _Inside(NamedTuple):
    """A location with the names around it, from the outside in: those around every call, and those inside one."""

    location: ir.Location
    names: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    called: bool = False

    def named(self, inner: ir.Location, name: str) -> _Inside:
        if self.called:
            return _Inside(inner, self.names, (*self.frames, name), True)
        return _Inside(inner, (*self.names, name), self.frames)


def _file_place(location: ir.FileLineColLoc) -> Place | None:
    # As text: to read a file name that is not UTF-8 ends the process (IREE 3.13).
    if (found := _FILE.match(str(location))) is None or found["file"] in NO_PLACES:
        return None
    file = found["file"] if "\\" not in found["file"] else unescaped(found["file"])
    return Place(file, int(found["line"]), int(found["column"]))

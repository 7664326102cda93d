"""A constant whose elements the module does not have (FIS415)."""

from __future__ import annotations

from collections.abc import Sequence

from fissile.dialect import place_of
from fissile.effect import Effect
from fissile.finding import Finding, Help
from fissile.passes.analysis.legality.constant_data import Lacking
from fissile.passes.iree.flags import ELIDED_AS_ZERO

CODE = "FIS415"
MOST_PLACES = 4


def check_constant_data(found: Sequence[Lacking]) -> list[Finding]:
    """FIS415 of each constant; of those without data that are called the same, as all elided ones are, one."""
    absent: dict[str, list[Lacking]] = {}
    for one in found:
        if one.held is None:
            absent.setdefault(one.name, []).append(one)
    return [*map(_absent, absent.values()), *(_short(one) for one in found if one.held is not None)]


def _absent(group: Sequence[Lacking]) -> Finding:
    first = group[0]
    times = f" of {len(group)} constants" if len(group) > 1 else ""
    places = dict.fromkeys(place for one in group if (place := place_of(one.op)))
    helps: tuple[Help, ...]
    if first.is_elided:
        message = f"the elements{times or ' of a constant'} were left out when the program was printed"
        helps = (
            Help("print it without --mlir-elide-elementsattrs-if-larger and --mlir-elide-resource-strings-if-larger"),
            Help(f"for a test, in which the numbers do not matter, give --{ELIDED_AS_ZERO}"),
        )  # fmt: skip
    else:
        message = f"the module has no data for resource '{first.name}'{times}"
        helps = (Help("add it to the module's dialect_resources, or compile the file as it was exported"),)
    return Finding(
        CODE,
        message,
        subject=first.name,
        places=tuple(places)[:MOST_PLACES],
        helps=helps,
        notes=(f"needed: {first.needed} bytes",) if len(group) == 1 else (),
    )


def _short(one: Lacking) -> Finding:
    place = place_of(one.op)
    return Finding(
        CODE,
        f"resource '{one.name}' has {one.held} bytes, and the constant needs {one.needed}",
        subject=one.name,
        effect=Effect.OVERRUN,
        places=(place,) if place else (),
        helps=(Help("give the resource all elements, or the constant the type of those that it has"),),
    )

"""Do a pipeline's passes chain? Asked before it runs (FIS501)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iree.compiler import ir

from fissile.dialect.verify import verify_dialect
from fissile.finding import Finding, Place
from fissile.passes.definition import Offence, Property
from fissile.passes.evaluation import offences_of
from fissile.passes.properties import WELL_FORMED

from ..textual import Nest
from .known import NamedContract, called, contract_of, establishers
from .order import recommended_order


class AtStart:
    """What holds of the input; each property is evaluated once, when it is first needed. Without a module all hold."""

    def __init__(self, module_op: ir.Operation | None) -> None:
        self._op = module_op
        self._known: dict[str, list[Offence]] = {}

    def offences(self, prop: Property, needed_by: str = "") -> list[Offence]:
        if prop.name not in self._known:
            self._known[prop.name] = offences_of(prop, self._op, needed_by) if self._op is not None else []
        return self._known[prop.name]


def unmet_requirements(pipeline: Nest, module_op: ir.Operation | None = None) -> list[Finding]:
    """FIS501 for each pass whose requirement does not hold when its turn comes; nothing is run.

    What holds at the start is evaluated on ``module_op``; without one, everything is taken to hold.
    """
    broken_by: dict[str, str] = {}
    established: set[str] = set()
    at_start = AtStart(module_op)
    unmet: list[tuple[NamedContract, Property, str, list[Offence]]] = []
    for step in map(contract_of, (call.name for call in pipeline.calls())):
        for prop in step.contract.requires:
            if prop.name in broken_by:
                unmet.append((step, prop, f"'{broken_by[prop.name]}' before it breaks that", []))
            elif prop.name not in established and (
                offences := at_start.offences(prop, f"{called(step.name)} requires")
            ):
                unmet.append((step, prop, "nothing before it establishes that", offences))
        for prop in step.contract.invalidates:
            broken_by[prop.name] = step.name
            established.discard(prop.name)
        for prop in step.contract.establishes:
            established.add(prop.name)
            broken_by.pop(prop.name, None)
    malformed = _malformed(module_op, unmet)
    if malformed:
        unmet = [one for one in unmet if one[1] is not WELL_FORMED]
    if not unmet:
        return malformed
    order = recommended_order(pipeline, lambda prop: not at_start.offences(prop))
    return [*malformed, *(_unmet(*one, order) for one in unmet)]


def _malformed(module_op: ir.Operation | None, unmet: Sequence[tuple]) -> list[Finding]:
    """What is wrong with the input's own fissile ops (FIS402), once and not for each pass that cannot take it."""
    if module_op is None or not any(prop is WELL_FORMED and offences for _, prop, _, offences in unmet):
        return []
    return verify_dialect(module_op)


def _unmet(
    step: NamedContract, prop: Property, why: str, offences: Sequence[Offence], order: Nest | None
) -> Finding:
    makers = [name for name in establishers(prop) if name != step.name]
    way_out = f"run {' or '.join(makers)} before it" if makers else "no pass establishes it; change the input"
    return Finding(
        code="FIS501",
        message=f"pass '{step.name}' requires {prop.name}, and {why}",
        subject=step.name,
        places=places(offences),
        notes=(
            f"{prop.name}: {prop.sentence}",
            f"an order that works: {order}" if order is not None else way_out,
            *((way_out,) if order is not None and makers else ()),
            *sentences(offences),
        ),
    )


def places(offences: Iterable[Offence]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(o.place for o in offences if o.place))


def sentences(offences: Sequence[Offence], shown: int = 3) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(o.sentence for o in offences))
    more = (f"and {len(named) - shown} more",) if len(named) > shown else ()
    return named[:shown] + more

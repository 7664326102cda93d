"""Do a pipeline's passes chain? Asked before it runs (FIS501), and of the IR after each pass (FIS502)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Finding, Place
from fissile.passes import properties as _common  # noqa: F401  (fills the registry of properties)
from fissile.passes.catalogue import find_pass, is_known, known_passes
from fissile.passes.definition import Contract, Offence, Property, find_property
from fissile.passes.iree.pass_contracts import NATIVE_ESTABLISHES, NATIVE_INVALIDATES

from .textual import Nest


@dataclass(frozen=True)
class NamedContract:
    """A pass's name with its contract, fissile's or IREE's."""

    name: str
    contract: Contract


def contract_of(name: str) -> NamedContract:
    """The contract of a pass. One of IREE's that no table lists requires nothing and breaks nothing."""
    if is_known(name):
        return NamedContract(name, find_pass(name).contract)
    return NamedContract(
        name,
        Contract(
            establishes=tuple(map(find_property, NATIVE_ESTABLISHES.get(name, ()))),
            invalidates=tuple(map(find_property, NATIVE_INVALIDATES.get(name, ()))),
        ),
    )


def unmet_requirements(pipeline: Nest, module_op: ir.Operation | None = None) -> list[Finding]:
    """FIS501 for each pass whose requirement does not hold when its turn comes; nothing is run.

    What holds at the start is asked of ``module_op``; without one, everything is taken to hold.
    """
    broken_by: dict[str, str] = {}
    established: set[str] = set()
    at_start: dict[str, list[Offence]] = {}
    findings = []
    for step in map(contract_of, (call.name for call in pipeline.calls())):
        for prop in step.contract.requires:
            if prop.name in broken_by:
                findings.append(_unmet(step, prop, f"'{broken_by[prop.name]}' before it breaks that", []))
            elif prop.name not in established and module_op is not None:
                if prop.name not in at_start:
                    at_start[prop.name] = prop.offences(module_op)
                if at_start[prop.name]:
                    findings.append(
                        _unmet(step, prop, "nothing before it establishes that", at_start[prop.name])
                    )
        for prop in step.contract.invalidates:
            broken_by[prop.name] = step.name
            established.discard(prop.name)
        for prop in step.contract.establishes:
            established.add(prop.name)
            broken_by.pop(prop.name, None)
    return findings


def establishers(prop: Property) -> list[str]:
    """The passes that establish ``prop``: fissile's, the users' and IREE's, by name."""
    ours = [name for name in known_passes() if prop in find_pass(name).contract.establishes]
    return ours + [name for name, made in NATIVE_ESTABLISHES.items() if prop.name in made]


class ContractWatch:
    """Asks, after each pass, whether every property that held still holds (`--verify-contracts`)."""

    def __init__(self, pipeline: Nest, module_op: ir.Operation) -> None:
        contracts = [contract_of(call.name).contract for call in pipeline.calls()]
        named = [p for c in contracts for p in (*c.requires, *c.establishes, *c.invalidates)]
        self._properties: Sequence[Property] = tuple({p.name: p for p in named}.values())
        self._held = {p.name for p in self._properties if p.holds(module_op)}

    def after(self, name: str, op: ir.Operation) -> list[Finding]:
        """FIS502 for what pass ``name`` broke, or should have established, on ``op``."""
        contract = contract_of(name).contract
        findings = []
        for prop in self._properties:
            offences = prop.offences(op)
            promised = prop in contract.establishes
            if offences and promised:
                findings.append(
                    _broken(f"pass '{name}' does not establish {prop.name}: {prop.sentence}", name, offences)
                )
            elif offences and prop.name in self._held and prop not in contract.invalidates:
                findings.append(_broken(f"pass '{name}' broke {prop.name}: {prop.sentence}", name, offences))
            if offences:
                self._held.discard(prop.name)
            elif promised:
                self._held.add(prop.name)
        return findings


def _unmet(step: NamedContract, prop: Property, why: str, offences: Sequence[Offence]) -> Finding:
    makers = [name for name in establishers(prop) if name != step.name]
    way_out = f"run {' or '.join(makers)} before it" if makers else "no pass establishes it; change the input"
    return Finding(
        code="FIS501",
        message=f"pass '{step.name}' requires {prop.name}, and {why}",
        subject=step.name,
        places=_places(offences),
        notes=(f"{prop.name}: {prop.sentence}", way_out, *_sentences(offences)),
    )


def _broken(message: str, name: str, offences: Sequence[Offence]) -> Finding:
    return Finding(
        code="FIS502", message=message, subject=name, places=_places(offences), notes=_sentences(offences)
    )


def _places(offences: Iterable[Offence]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(o.place for o in offences if o.place))


def _sentences(offences: Sequence[Offence], shown: int = 3) -> tuple[str, ...]:
    told = tuple(dict.fromkeys(o.sentence for o in offences))
    more = (f"and {len(told) - shown} more",) if len(told) > shown else ()
    return told[:shown] + more

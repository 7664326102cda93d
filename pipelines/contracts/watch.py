"""Does each pass keep its contract? Asked of the IR after each pass (FIS502, `--verify-contracts`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.definition import Contract, Offence, Property
from fissile.passes.evaluation import is_own, offences_of

from ..textual import Nest, PassCall, pass_names
from .chain import places, sentences
from .known import called, contract_of, known_properties
from .reproducer import Reproducer, write_reproducer

WHERE_NAMED = ("no-open-obligation", "dispatches-formed")
"""Watched only where a pass of the pipeline names it. Ops inside of dispatches have bounds of their own, and a solver takes time; a
program without structured ops has nothing outside of dispatches until its front end's ops are lowered."""


_ALSO: ContextVar[tuple[Property, ...]] = ContextVar("properties that are watched also", default=())


@contextmanager
def watching(properties: Iterable[Property]) -> Iterator[None]:
    """Within the block ``properties`` are watched too, after every pass and phase."""
    token = _ALSO.set(tuple(properties))
    try:
        yield
    finally:
        _ALSO.reset(token)


def always_watched() -> tuple[Property, ...]:
    """What is evaluated whatever a pipeline names: fissile's own properties, other than WHERE_NAMED, and those of `watching`.

    A user's property may be about passes that do not run.
    """
    own = (prop for prop in known_properties() if is_own(prop) and prop.name not in WHERE_NAMED)
    return (*own, *_ALSO.get())


def named_by(pipelines: Iterable[str]) -> tuple[Property, ...]:
    """The properties that the contracts of the passes in ``pipelines`` name. Raises UsageError on bad text."""
    contracts = [contract_of(name).contract for text in pipelines for name in pass_names(text)]
    return tuple(p for c in contracts for p in (*c.requires, *c.establishes, *c.invalidates))


class ContractWatch:
    """Evaluates, after each pass, whether the properties that held still hold, those that the pipeline names and
    `always_watched`; keeps the IR from before the pass."""

    def __init__(self, pipeline: Nest, module_op: ir.Operation) -> None:
        contracts = [(call.name, contract_of(call.name).contract) for call in pipeline.calls()]
        named = [p for _, c in contracts for p in (*c.requires, *c.establishes, *c.invalidates)]
        self._root = module_op
        self._state = HeldProperties([*named, *always_watched()], module_op, _needed_by(contracts))
        self._before: ir.Operation | None = None

    def before(self) -> None:
        """Keeps the program as it is now, for a reproducer of the step that follows."""
        self._before = self._root.clone()

    def after(self, call: PassCall, op: ir.Operation, path: Sequence[str]) -> list[Finding]:
        """FIS502 for what pass ``call`` broke, or should have established, on ``op``; ``path`` are the anchors around it."""
        broken = self._state.after(f"pass '{call.name}'", contract_of(call.name).contract, op)
        if not broken or self._before is None:
            return [broken_contract(message, call.name, offences, None) for message, _, offences in broken]
        pipeline: Nest | PassCall = call
        for anchor in reversed(path):
            pipeline = Nest(anchor, (pipeline,))
        before = self._before.get_asm(enable_debug_info=True)
        reproducer = write_reproducer(before, str(pipeline), call.name, [prop for _, prop, _ in broken])
        return [broken_contract(message, call.name, offences, reproducer) for message, _, offences in broken]


def _needed_by(contracts: Iterable[tuple[str, Contract]]) -> dict[str, str]:
    """By property: the first pass whose contract names it, and how."""
    needed: dict[str, str] = {}
    for name, contract in contracts:
        parts = {
            "requires": contract.requires,
            "establishes": contract.establishes,
            "invalidates": contract.invalidates,
        }
        for verb, properties in parts.items():
            for prop in properties:
                needed.setdefault(prop.name, f"{called(name)} {verb}")
    return needed


Broken = tuple[str, Property, list[Offence]]
"""A sentence that says who broke what, the property, and its offences."""


class HeldProperties:
    """Which of some properties hold of a program as passes change it."""

    def __init__(
        self, properties: Iterable[Property], op: ir.Operation, needed_by: Mapping[str, str] | None = None
    ) -> None:
        self._properties: Sequence[Property] = tuple({p.name: p for p in properties}.values())
        self._needed_by = needed_by or {}
        self._held = {p.name for p in self._properties if not self._offences(p, op)}

    def _offences(self, prop: Property, op: ir.Operation) -> list[Offence]:
        return offences_of(prop, op, self._needed_by.get(prop.name, ""))

    def after(self, who: str, contract: Contract, op: ir.Operation) -> list[Broken]:
        """What ``who`` broke against its ``contract``, now that ``op`` is what it left."""
        broken: list[Broken] = []
        for prop in self._properties:
            offences = self._offences(prop, op)
            promised = prop in contract.establishes
            if offences and promised:
                broken.append((f"{who} does not establish {prop.name}: {prop.sentence}", prop, offences))
            elif offences and prop.name in self._held and prop not in contract.invalidates:
                broken.append((f"{who} broke {prop.name}: {prop.sentence}", prop, offences))
            if offences:
                self._held.discard(prop.name)
            else:
                self._held.add(prop.name)
        return broken


def broken_contract(
    message: str, subject: str, offences: Sequence[Offence], reproducer: Reproducer | None
) -> Finding:
    """FIS502 with the first of ``offences``."""
    return Finding(
        code="FIS502",
        message=message,
        subject=subject,
        places=places(offences),
        notes=(*sentences(offences), *(reproducer.notes if reproducer else ())),
    )

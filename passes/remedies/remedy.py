"""What a remedy is: a pass that removes failures of IREE, and declares everything that is written or decided about it.

The edits that the repair loop tries, their order within one edited module, the sentences of findings and advice, the
refusal of an op that a pass does not fit (FIS114) and docs/remedies.md derive from the class. `docs/add-a-remedy.md`
is the way to a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.dialect import place_of, register
from fissile.errors import UsageError
from fissile.finding import Finding, Help, ordered
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.definition import Contract, Pass, PassDefinitionError, PassFailed, option
from fissile.passes.properties import (
    DISPATCHES_NOT_FORMED,
    LINALG_ON_TENSORS,
    NO_BOUNDARIES,
    NO_FISSILE_OPS,
    WELL_FORMED,
)

from .chosen_ops import check_indices

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

NOT_APPLICABLE = "FIS114"
"""A remedy was given an op that it does not fit."""

ON_TENSORS = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS))
"""The contract of a remedy that rewrites ops before dispatches are formed."""
PLACES_BOUNDARIES = Contract(
    requires=(WELL_FORMED, DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS),
    invalidates=(NO_BOUNDARIES, NO_FISSILE_OPS),
)
"""The same of one that leaves `fissile.boundary` ops."""


class Exactness(Enum):
    """How far the numbers of a program may change."""

    BITS = "bit-identical"
    ORDER = "the same terms; sums may be added up in another order"
    ROUNDING = "rounded at other places"


@dataclass(frozen=True)
class Match:
    """Whether a remedy fits an op: true, or false with the reason."""

    why_not: str = ""

    def __bool__(self) -> bool:
        return not self.why_not


FITS = Match()


@dataclass(frozen=True)
class Remedy(Pass):
    """The base of all remedies.

    ``cures`` are the codes of the failures that it removes. ``does``, ``repairs`` and ``numbers`` are the columns of
    docs/remedies.md; ``exactness`` sums the last one up. ``counterpart`` names what IREE itself has for this and says
    why it does not serve; empty where IREE has nothing. ``done`` is what a finding reports, ``advice`` the same as
    a suggestion.
    """

    cures: ClassVar[tuple[str, ...]] = ()
    does: ClassVar[str] = ""
    repairs: ClassVar[str] = ""
    numbers: ClassVar[str] = ""
    exactness: ClassVar[Exactness]
    counterpart: ClassVar[str] = ""
    done: ClassVar[str] = ""
    advice: ClassVar[str] = ""
    contract: ClassVar[Contract] = ON_TENSORS

    def __init_subclass__(cls, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.name:
            return
        for part in ("cures", "does", "repairs", "numbers", "exactness", "done", "advice"):
            if not getattr(cls, part, None):
                raise PassDefinitionError(
                    f"remedy class {cls.__module__}.{cls.__qualname__} does not declare '{part}'"
                )

    def help(self, *facts: tuple[str, str]) -> Help:
        """That it was applied, with ``facts``."""
        return Help(self.done, self.name, True, facts, self.advice)


@dataclass(frozen=True)
class OpRemedy(Remedy):
    """A remedy that changes chosen source ops; the repair loop applies it to the ops of one dispatch.

    ``done`` and ``advice`` name the ops as {ops} and {them}. ``refusal`` is the sentence of FIS114, with {op} and {why}.
    ``order`` says when it is applied if a module takes several remedies, smallest first: a remedy that leaves every op in
    place comes before one that replaces ops, and what folds into consumers is last.
    """

    order: ClassVar[int]
    refusal: ClassVar[str] = ""
    ops: tuple[int, ...] = option((), "indices of the source ops to change; empty: all that it fits")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        """Whether this remedy can change source op ``op``; ``dispatch`` is what fails, where a dispatch does."""
        raise NotImplementedError

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        """Changes ``ops``, each of which matches, in place. They may be other operations afterwards."""
        raise NotImplementedError

    def chooses(self, op: ir.Operation) -> bool:
        """Whether the pass without ``ops`` takes ``op``."""
        return bool(self.match(op))

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        """What the edited program pays beside the dispatches it has more of, in a few words; empty: nothing to mention."""
        return ""

    def facts(self, ops: Sequence[ir.Operation]) -> tuple[tuple[str, str], ...]:
        """Further (name, sentence) rows for a finding: rounding, order."""
        return ()

    def sentence(self, advice: bool = False) -> str:
        """What a finding reports of it, or suggests; with {ops} and {them}. Options may change it."""
        return self.advice if advice else self.done

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        register(op.context)
        known = source_ops(op)
        check_indices(self.ops, known, self.name)
        chosen = [known[i] for i in dict.fromkeys(self.ops)] or [one for one in known if self.chooses(one)]
        if refused := [(one, found.why_not) for one in chosen if not (found := self.match(one))]:
            raise PassFailed(ordered(self.refuse(one, why) for one, why in refused))
        self.rewrite(chosen)

    def refuse(self, op: ir.Operation, why: str) -> Finding:
        """FIS114 for ``op``."""
        place = place_of(op)
        sentence = self.refusal.format(op=op.name, why=why)
        return Finding(NOT_APPLICABLE, sentence, subject=op.name, places=(place,) if place else ())

    def need_ops(self, usage: str) -> None:
        """Raises UsageError where no op is chosen: there is no sensible default."""
        if not self.ops:
            raise UsageError(f"{self.name} needs `ops`", usage)

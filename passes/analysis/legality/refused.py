"""What an audit finds, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from fissile.finding import Place

from .boundary_types import BoundaryValue
from .compiler import Outcome
from .isolation import Isolated
from .slices import Slice
from .unranked import Unranked


@dataclass(frozen=True)
class Occurrence:
    """One op as it stands in the source. ``users`` are the ops that use its results, with their places."""

    place: Place | None
    users: tuple[tuple[str, Place | None], ...] = ()


@dataclass(frozen=True)
class Refused:
    """An op that IREE refuses alone, with all its occurrences in the program.

    ``outcome`` is what became of ``probe``, whose program stands at phase ``start``. ``dies_unused``: without a use of its
    results, IREE removes it. ``unused``: no result of it is used here. ``inner``: the scalar op in its body that is to blame,
    where one is. ``unknown``: IREE has no definition of it, or of ``inner``. Without a ``probe`` and not unknown, it cannot be compiled
    alone, and the message for the program names it.
    """

    name: str
    types: str
    occurrences: tuple[Occurrence, ...]
    outcome: Outcome
    probe: Isolated | None
    start: str = "start"
    unknown: bool = False
    dies_unused: bool = False
    unused: bool = False
    inner: tuple[str, Place | None] | None = None

    @property
    def is_without_rank(self) -> bool:
        """Whether it could not be compiled alone, and reads or makes a value without a rank."""
        return self.probe is None and "<*" in self.types


@dataclass(frozen=True)
class InContext:
    """A function that IREE refuses alone, although it takes each op of it: ``outcome`` is what becomes of it.

    ``part`` and ``unprobed`` are as `Audit` has them for the whole program.
    """

    function: str
    outcome: Outcome
    part: Slice | None
    unprobed: tuple[tuple[str, Place | None], ...] = ()
    place: Place | None = None
    """Where the function begins."""


@dataclass(frozen=True)
class Audit:
    """``whole`` is what IREE does with the program as it is, ``rest`` without the ops in ``refused``.

    ``part`` is the smallest part of the rest that is refused as well, where it is and one was found. ``unranked``: values
    without a rank, where the program is refused, and ``boundaries``: arguments and results of types that no function takes.
    ``unprobed``: the ops of a refused rest that cannot be compiled alone, with their places. ``functions``: those that are refused as a
    whole, and ``without_rank`` the values for which others are; the rest is without them.
    """

    refused: tuple[Refused, ...]
    whole: Outcome
    rest: Outcome
    part: Slice | None = None
    unranked: tuple[Unranked, ...] = ()
    boundaries: tuple[BoundaryValue, ...] = ()
    unprobed: tuple[tuple[str, Place | None], ...] = ()
    functions: tuple[InContext, ...] = ()
    without_rank: tuple[Unranked, ...] = ()

    @property
    def is_explained(self) -> bool:
        """Whether ``rest`` fails for what was named already, and could not be taken out."""
        last = self.refused[-1] if self.refused else None
        boundaries = (
            one for one in self.boundaries if not one.apart or one.outcome.message == self.rest.message
        )
        return any(boundaries) or last is not None and last.probe is None and not last.unknown

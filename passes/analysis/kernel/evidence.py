"""What is seen of a failure, as plain values that a probe can send."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fissile.effect import Effect
from fissile.finding import Limit, Place

from ..memory.footprint import Allocation


@dataclass(frozen=True)
class Evidence:
    """``buffers`` or element ``types`` that it concerns, how much of it there is (``count``), further ``traits`` in words, the source
    ops to blame (``tags``) and their ``place``.

    ``effect``: what stock IREE does with this program, where that differs from the rule's. ``why``: the cause, as a sentence.
    ``message`` is IREE's own in a line, ``text`` all of it. ``limit``: that which the buffers exceed.
    """

    buffers: tuple[Allocation, ...] = ()
    types: tuple[str, ...] = ()
    count: int = 0
    traits: tuple[str, ...] = ()
    tags: tuple[int, ...] = ()
    place: Place | None = None
    effect: Effect | None = None
    why: str = ""
    message: str = ""
    text: str = ""
    limit: Limit | None = None

    def __bool__(self) -> bool:
        return self != NOTHING


NOTHING = Evidence()
_GRAVITY = (None, Effect.UNPROVED, Effect.MAY_BE_WRONG, Effect.WRONG, Effect.REFUSED)
"""The effects that evidence states; the last is the gravest."""


def gravity(evidence: Evidence) -> int:
    return _GRAVITY.index(evidence.effect)


def gravest(found: Iterable[Evidence]) -> Evidence:
    """The first of those with the gravest effect; nothing where there is none."""
    return max(found, key=gravity, default=NOTHING)

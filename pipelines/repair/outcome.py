"""What an attempt to compile a program came to, as a value: the next attempt is chosen by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fissile.finding import Finding

from .failures import Failure
from .packing import Narrow


@dataclass(frozen=True)
class Outcome:
    """``findings`` so far. ``over``: this is the answer, and no other attempt is made; ``written``: the output is made then, and
    kept unless a finding is an error.

    ``failure`` stands in the way, and the next attempts are about it. ``narrow`` are elements that what was made reads or writes
    wrongly: to be packed first. ``refusals`` say why they could not be packed. ``threw``: fissile's own attempt had no answer (FIS902).
    """

    findings: tuple[Finding, ...] = ()
    failure: Failure | None = None
    narrow: Narrow = Narrow()
    refusals: tuple[Finding, ...] = ()
    over: bool = False
    written: bool = False
    threw: bool = False

    def with_(self, **changes) -> Outcome:
        return replace(self, **changes)

    def answered(self, findings: Iterable[Finding], written: bool = True) -> Outcome:
        """The same with ``findings`` as the answer."""
        return replace(self, findings=tuple(findings), failure=None, over=True, written=written)

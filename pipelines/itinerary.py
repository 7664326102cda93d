"""IREE's phases with fissile's stops in between: the same ones whether a module is looked at, repaired or compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fissile.finding import Finding
from fissile.passes.iree.phases import PHASES

from .session import Module, Session, phase_index


@dataclass(frozen=True)
class Stop:
    """``act(module)`` is called on the live module when it has reached ``phase``, if it is ``wanted`` then; it may change
    the module."""

    phase: str
    name: str
    act: Callable[[Module], Iterable[Finding]]
    wanted: Callable[[], bool] = lambda: True


class Itinerary:
    """Runs modules through IREE's phases, calling each stop at its phase, in the order given."""

    def __init__(self, session: Session, stops: Iterable[Stop] = ()) -> None:
        self.session = session
        self.stops = tuple(stops)
        for stop in self.stops:
            phase_index(stop.phase)

    def with_stop(self, stop: Stop) -> Itinerary:
        """The same, with ``stop`` after the others of its phase."""
        return Itinerary(self.session, (*self.stops, stop))

    def advance(self, module: Module, to: str) -> list[Finding]:
        """Runs ``module`` up to and including phase ``to`` and its stops; returns what the stops found.

        A stop at the phase where the module already stands is taken as done. Raises PhaseFailed.
        """
        findings: list[Finding] = []
        here = phase_index(module.phase)
        for phase in PHASES[here + 1 : phase_index(to) + 1]:
            due = [stop for stop in self.stops if stop.phase == phase and stop.wanted()]
            if due or phase == to:
                self.session.run(module, phase)
                for stop in due:
                    findings.extend(stop.act(module))
        return findings

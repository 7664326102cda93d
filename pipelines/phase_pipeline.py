"""IREE's phases with fissile's hooks in between: the same ones whether a module is looked at, repaired or compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fissile.finding import Finding
from fissile.passes.definition import PassFailed
from fissile.passes.iree.phases import PHASES

from .session import Module, Session, phase_index


@dataclass(frozen=True)
class PhaseHook:
    """``act(module)`` is called on the live module when it has reached ``phase``, if it is ``wanted`` then; it may change
    the module."""

    phase: str
    name: str
    act: Callable[[Module], Iterable[Finding]]
    wanted: Callable[[], bool] = lambda: True


class PhasePipeline:
    """Runs modules through IREE's phases, calling each hook at its phase, in the order given.

    It owns what works on its modules (`keep`): such an object holds ops of clones that IREE has freed meanwhile, and Python's
    collector, which frees in any order, ended the process by SIGSEGV where it came upon them in the middle of a compile (an FFT
    of complex numbers on Vulkan, IREE 3.13).
    """

    def __init__(
        self,
        session: Session,
        hooks: Iterable[PhaseHook] = (),
        *,
        verify_contracts: bool = False,
        owned: list[object] | None = None,
    ) -> None:
        self.session = session
        self._verify_contracts = verify_contracts
        self.hooks = tuple(hooks)
        self._owned: list[object] = [] if owned is None else owned
        for hook in self.hooks:
            phase_index(hook.phase)

    def with_hooks(self, hooks: Iterable[PhaseHook]) -> PhasePipeline:
        """The same with these hooks; the two own the same objects."""
        return PhasePipeline(self.session, hooks, verify_contracts=self._verify_contracts, owned=self._owned)

    def keep(self, worker: object) -> None:
        """``worker`` lives as long as this pipeline, and as those made of it."""
        self._owned.append(worker)

    def advance(self, module: Module, to: str) -> list[Finding]:
        """Runs ``module`` up to and including phase ``to`` and its hooks; returns what the hooks found.

        A hook at the phase where the module already stands is taken as done, unless the module was read there. Raises PhaseFailed,
        and PassFailed where IREE breaks a property on the way and contracts are verified.
        """
        findings: list[Finding] = []
        here = phase_index(module.phase) + (not module.is_read)
        module.is_read = False
        for phase in PHASES[here : phase_index(to) + 1]:
            due = [hook for hook in self.hooks if hook.phase == phase and hook.wanted()]
            if due or phase == to or self._verify_contracts:
                self._run(module, phase)
                for hook in due:
                    findings.extend(hook.act(module))
                    module.may_have_changed()
        return findings

    def _run(self, module: Module, phase: str) -> None:
        if not self._verify_contracts or module.phase == phase:
            self.session.run(module, phase)
            return
        from .contracts.phases import PhaseWatch

        watch = PhaseWatch(module.op, phase)
        self.session.run(module, phase)
        if broken := watch.after(module.op):
            raise PassFailed(broken)

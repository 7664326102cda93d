"""Which hooks a compile has between IREE's phases, in order, and what they leave behind for the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fissile.finding import Finding, Severity
from fissile.passes.checks.refusals.leftover_ops import leftover_ops
from fissile.passes.containment import contained, contained_change
from fissile.passes.definition import PassFailed
from fissile.passes.iree.phases import (
    BOUNDARIES_PLACED_AT,
    DEVICES_ASSIGNED_AT,
    PREPROCESSED_AFTER,
    SCHEDULED_AT,
)
from fissile.passes.plugins import CHECKS, declares

from ...phase_pipeline import PhaseHook
from ...session import Module, Session, phase_index
from ..request import CompileRequest
from . import host_updates
from .attentions import DECOMPOSE
from .branch_operands import lost_references
from .early_stops import recursion
from .guard import GUARDED_AT, guard, strips_asserts
from .host_floats import FOLD
from .schedule import of_schedule

DIALECT_LOWERINGS = (
    # Preconditions and storage become IREE's own ops as soon as the input is in IREE's dialects, and groups must:
    # phase abi crashes on an unregistered op with a region. Boundaries wait until ops are optimised.
    ("input", "builtin.module(fissile-lower-requires,fissile-lower-storage,fissile-lower-groups)"),
    (BOUNDARIES_PLACED_AT, "builtin.module(fissile-lower-groups,fissile-lower-boundaries)"),
)

PACK = "pack-transients"


class HookPlan:
    """The hooks of one compile. ``facts`` is the report's: hooks add to it.

    ``guarded`` are the findings of the storage guard, ``requested`` those of pipelines that the command line names.
    ``has_inner_checks``: some stand inside of the program's control flow.
    """

    def __init__(self, request: CompileRequest, session: Session, facts: dict[str, object]) -> None:
        self._request, self._session, self._facts = request, session, facts
        self.guarded: tuple[Finding, ...] = ()
        self.requested: list[Finding] = []
        self._asserted = False
        self._rejected = ""
        self._all_checks: tuple[Finding, ...] = ()
        self.has_inner_checks = False
        self._contract: dict[str, list[str]] = {}
        self._first: list[PhaseHook] = []
        self._looks: list[PhaseHook] = []

    def forget(self) -> None:
        """Nothing is reported of the storage guard: the program is compiled without it."""
        self.guarded = ()

    def leave_checks_out(self, rejected: str) -> None:
        """No check stands inside of control flow from now on, since IREE says ``rejected``; where that is empty, it is as it was before."""
        if rejected:
            self._all_checks = self.guarded
        else:
            self.guarded, self.has_inner_checks = self._all_checks, True
        self._rejected = rejected

    def all(self, own: bool = True) -> list[PhaseHook]:
        """The hooks in the order in which a module meets them; without ``own``, only what the command line names."""
        request = self._request
        hooks: list[PhaseHook] = []
        if own:
            endless = recursion(request.compile_to)
            hooks.append(self._own(endless.phase, endless.name, endless.act))
        if own and request.guard != "off":
            hooks.append(self._own(GUARDED_AT, "storage guard", self._guard))
        if own and declares(CHECKS):
            from ...plugged_checks import plugged_findings

            hooks.append(self._own(GUARDED_AT, "checks of other packages", plugged_findings))
        if request.preprocessing:
            hooks.append(self._pipeline_hook(PREPROCESSED_AFTER, request.preprocessing))
        if request.match_device:
            hooks.append(self._own(DEVICES_ASSIGNED_AT, "match-device", self._match_device))
        hooks += [self._pipeline_hook(phase, pipeline) for phase, pipeline in request.pipelines_after]
        hooks += [
            PhaseHook(phase, "lower-dialect", lower_dialect(pipeline))
            for phase, pipeline in DIALECT_LOWERINGS
        ]
        if not own:
            return hooks
        hooks.append(self._own(BOUNDARIES_PLACED_AT, "check-leftovers", stop_on_leftovers))
        self._first, self._looks = hooks, self._own_looks()
        return self.with_rewrites(())

    def with_rewrites(self, rewrites: Iterable[PhaseHook]) -> list[PhaseHook]:
        """The hooks of `all`, with ``rewrites`` before those that look at what IREE makes of the program."""
        return [*self._first, *rewrites, *self._looks]

    def _own_looks(self) -> list[PhaseHook]:
        request = self._request
        hooks = [
            self._own(hook.phase, hook.name, hook.act, hook.wanted)
            for hook in host_updates.hooks(self._session, request.repair != "off")
        ]
        of_loops = (
            *of_schedule(request.repair != "off"),
            *lost_references(request.flags, request.repair != "off", lambda: self._asserted),
        )
        hooks += [self._own(hook.phase, hook.name, hook.act, hook.wanted) for hook in of_loops]
        if request.repair != "off":
            hooks += [self._own(hook.phase, hook.name, hook.act) for hook in (FOLD, DECOMPOSE)]
        if request.pack_transients or request.check_lifetimes:
            from .transients import PACKED_AT

            hooks.append(self._own(PACKED_AT, PACK, self._pack))
        # Only where the guard has changed the program: stopping costs time.
        hooks.append(self._own(SCHEDULED_AT, "order of checks", self._order, lambda: self._asserted))
        return hooks

    def _own(
        self,
        phase: str,
        name: str,
        act: Callable[[Module], Iterable[Finding]],
        wanted: Callable[[], bool] = lambda: True,
    ) -> PhaseHook:
        """A hook that fissile adds itself: where it throws, the module is put back and goes on as it was. A program that was written behind
        ``phase`` meets it where it is read, as long as ops are no dispatches yet."""
        start = self._request.compile_from
        if phase_index(phase) < phase_index(start) <= phase_index(BOUNDARIES_PLACED_AT):
            phase = start

        def act_or_leave(module: Module) -> Iterable[Finding]:
            found = contained_change(f"the step '{name}'", lambda: act(module), module.put_back, ())
            module.settle()
            return found

        return PhaseHook(phase, name, act_or_leave, wanted)

    def _pipeline_hook(self, phase: str, pipeline: str) -> PhaseHook:
        def act(module: Module) -> list[Finding]:
            from ...pass_runner import run_pipeline

            found: list[Finding] = []
            run_pipeline(
                pipeline, module.op, report=found.append, verify_contracts=self._request.verify_contracts
            )
            self.requested += found
            return found

        return PhaseHook(phase, pipeline, act)

    def _guard(self, module: Module) -> list[Finding]:
        """Storage is proved, refuted or asserted; what is refuted ends the compile."""
        result = guard(
            module.op,
            self._request.guard,
            asserts_stripped=strips_asserts(self._request.flags),
            declared=module.marks.declared,
            bounded=module.marks.bounded,
            rejected=self._rejected,
            before_change=module.about_to_change,
        )
        if any(finding.severity is Severity.ERROR for finding in result.findings):
            raise PassFailed(result.findings)
        # A repair parses again and comes by here again; it is reported once.
        self.guarded = result.findings
        self._asserted = result.asserts > 0
        self.has_inner_checks = result.asserts > result.at_entry
        self._facts["storage_checks"] = {"asserts": result.asserts, "of_indices": result.elementwise}
        self._contract = {name: list(conditions) for name, conditions in result.contract.items()}
        self._facts["contract"] = self._contract
        return []

    def _pack(self, module: Module) -> list[Finding]:
        from .transients import pack_transients, report_slabs

        if not self._request.pack_transients:
            return report_slabs(module)
        module.about_to_change()
        found = pack_transients(self._session, module)
        self.requested += found
        return found

    def _order(self, module: Module) -> list[Finding]:
        from fissile.passes.remedies.storage.order.scheduled_checks import bring_back

        bring_back(module.op, self._contract, module.about_to_change)
        return []

    def _match_device(self, module: Module) -> list[Finding]:
        from ...devices.match import match_target
        from ...devices.vulkan import query_device

        device = query_device()
        self._facts["device"] = device.name
        module.about_to_change()
        self._facts["device_changes"] = [str(change) for change in match_target(module.op, device)]
        return []


def stop_on_leftovers(module: Module) -> list[Finding]:
    """Raises PassFailed where fissile ops are left that IREE cannot translate; it names each. Else no finding.

    Dispatch creation crashes on an op that it does not know on tensors (IREE 3.13), so this comes before it.
    """
    if found := [*module.marks.wrong, *leftover_ops(module.op)]:
        raise PassFailed(found)
    return []


def lower_dialect(pipeline: str) -> Callable[[Module], list[Finding]]:
    """A hook that lowers fissile ops a program was written with; a program without any is not touched."""

    def act(module: Module) -> list[Finding]:
        found: list[Finding] = []
        if contained("fissile's own ops", lambda: leftover_ops(module.op), ()):
            from ...pass_runner import run_pipeline

            run_pipeline(pipeline, module.op, report=found.append)
        return found

    return act

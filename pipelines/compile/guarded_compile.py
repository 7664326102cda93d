"""One guarded compile inside a worker process: straight through where IREE can, repaired where it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fissile.finding import Finding
from fissile.passes.containment import NOT_CHECKED, contained
from fissile.passes.definition import PassFailed
from fissile.passes.failures.failure import Ending, codes_of
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_CONFIGURED_AT
from fissile.report import Report

from ..repair.failures import (
    Failure,
    Foreseen,
    StraightEnded,
    rejected,
)
from ..repair.outcome import Outcome
from ..session import PhaseFailed, phase_index
from .compile_run import CompileRun
from .refusal_advice import can_go_back, not_reached, with_mode, with_opset, with_way_out
from .stepping_aside import stands_in
from .straight_compile import StraightCompile
from .wrong_numbers import write_down, written_down, wrong_as_it_is

if TYPE_CHECKING:
    from ..phase_pipeline import PhaseHook
    from ..probe.probe_pool import CodegenProgress
    from ..repair.after_failure import AfterFailure

ENDINGS = codes_of(lambda one: one.ending)


@dataclass(frozen=True)
class Attempt:
    """One way to compile the program. ``wanted`` says of the outcome so far whether it is made, ``make`` takes that outcome further.

    ``guarded``: it is a question of the net; where it throws, the next one is made.
    """

    name: str
    make: Callable[[GuardedCompile, Outcome], Outcome]
    wanted: Callable[[GuardedCompile, Outcome], bool]
    step: str = ""
    """The step of the report that its time is counted to; empty: it counts its own."""
    guarded: bool = False


class GuardedCompile:
    """Compiles the request of ``run`` by ATTEMPTS.

    ``ended`` says how an earlier straight compile of the same request took its process along (``ending``); it is not tried again
    then. ``progress`` is called with how many dispatches are about to be translated (one: with its fingerprint), and 0 when that is
    over; ``watch`` with the same of dispatches that the repair loop probes in this process (None: it probes in others).
    """

    def __init__(
        self,
        run: CompileRun,
        ended: str = "",
        progress: CodegenProgress = lambda *_: None,
        watch: CodegenProgress | None = None,
        endless: Iterable[str] = (),
        translate: bool = False,
        ending: Ending = Ending.CRASHED,
    ) -> None:
        self._run = run
        self._ended, self._ending = ended, ending
        self._progress = progress
        self._watch = watch
        self._endless = tuple(endless)
        self._translate = translate
        self._straight = StraightCompile(run, progress)
        self._open = ExitStack()
        self._after: AfterFailure | None = None
        self._rewrites: tuple[PhaseHook, ...] = ()
        self._stopped = False

    def run(self) -> Report:
        """Makes the attempts in turn, until one has the answer; a failure that none could do anything about is reported."""
        so_far, made = Outcome(), []
        with self._open:
            for attempt in ATTEMPTS:
                if not so_far.over and attempt.wanted(self, so_far):
                    made.append(attempt.name)
                    so_far = self._made(attempt, so_far)
                    if isinstance(so_far.failure, Foreseen):
                        write_down(self._run.scratch, wrong_as_it_is(so_far.failure, NOT_CHECKED))
        self._run.facts["attempts"] = made
        findings = list(so_far.findings)
        unexplained = [f.code for f in findings if f.code in ENDINGS and not f.subject]
        if self._ended and so_far.written and unexplained:
            # Fissile's own part may have crashed; every dispatch by itself is translated in time, and the whole is larger.
            self._run.facts["unexplained"] = unexplained[0]
        if so_far.failure is not None:
            findings = [with_way_out(self._run, rejected(so_far.failure))]
        elif so_far.over and not so_far.written:
            return self._run.report(findings, stopped=self._stopped)
        if self._run.has_written and not self._run.request.generates_code:
            findings = not_reached(self._run, findings)
        findings = with_opset(self._run, with_mode(self._run, findings))
        return self._run.report(findings, written=so_far.failure is None)

    def _made(self, attempt: Attempt, so_far: Outcome) -> Outcome:
        """The outcome of ``attempt``: where IREE or a pass refuses the program, that is the outcome."""
        if not attempt.step:
            return self._settled(attempt, so_far)
        with self._run.step(attempt.step):
            return self._settled(attempt, so_far)

    def _settled(self, attempt: Attempt, so_far: Outcome) -> Outcome:
        try:
            if attempt.guarded:
                threw = so_far.with_(threw=True)
                return contained(
                    "the repair", lambda: attempt.make(self, so_far), threw, cpu_limit=0, usage=True
                )
            return attempt.make(self, so_far)
        except PassFailed as refused:
            self._stopped = True
            return so_far.answered(refused.findings, written=False)
        except PhaseFailed as failed:
            return so_far.with_(findings=(), failure=failed, over=attempt.guarded)

    def bare(self, why: Finding) -> Report:
        """The program as stock IREE compiles it, with no step, look or repair that the user did not request; ``why`` gives the reason."""
        if stands_in(self._run.request):
            self._run.session.refuse_unknown_dialects()
        try:
            self._straight.through(self._run.without_own_hooks())
        except PassFailed as refused:
            return self._run.report([*refused.findings, why], stopped=True)
        except PhaseFailed as failure:
            return self._run.report([rejected(failure), why])
        return self._run.report([*written_down(self._run.scratch), why], written=True)

    def _emit_mlir(self) -> None:
        """The module as it is, where it was requested and nothing had to be repaired."""
        if self._run.request.emit_mlir and can_go_back(self._run.request):
            self._run.emit_mlir(self._run.origin()[0])

    # --- the attempts

    def direct(self, so_far: Outcome) -> Outcome:
        """As stock IREE does, with a look at the configured dispatches on the way; not where that ended a process before."""
        if self._ended:
            ended = StraightEnded(self._ended, self._ending)
            # An op that can be written with others may be what ended it: not once more with that op (`entered`).
            if not self._enters(ended, self._run.may_enter) and self._repairable(ended):
                with self._run.step("repair"):
                    self._run.origin()  # what IREE refuses before that phase is the failure then
            return so_far.with_(failure=ended)
        return self._direct(so_far)

    def _direct(self, so_far: Outcome) -> Outcome:
        with self._run.step("parse"):
            module = self._run.parse()
        with self._run.step("compile"):
            found, failure = self._straight.looked_at(module)
        if failure is not None:
            return so_far.with_(findings=tuple(found), failure=failure)
        self._emit_mlir()
        if path := self._run.request.emit_tuning_spec:
            from .emitted_spec import nothing_to_write

            found.append(nothing_to_write(path))
        return so_far.answered(found)

    def enters(self, so_far: Outcome) -> bool:
        """Whether what IREE refuses, or crashes on, may be ops that can be written with others; the input is, from now on."""
        failure = so_far.failure
        return failure is not None and self._enters(failure, self._run.enter_from_now_on)

    def _enters(self, failure: Failure, how: Callable[[str], bool]) -> bool:
        """Whether ``failure`` may be that of such an op, and ``how`` says of its message that there is one."""
        if self._run.request.repair == "off":
            return False
        from .hooks.front_end import may_enter

        return contained(
            "ops of the front end", lambda: may_enter(self._run, failure) and how(failure.message), False
        )

    def entered(self, so_far: Outcome) -> Outcome:
        """Direct again, with such ops written with others as soon as the input is parsed; also where the program as it is ended a process."""
        return self._direct(so_far.with_(findings=(), failure=None))

    def rewritable(self, so_far: Outcome) -> bool:
        """Whether what IREE refuses in the program as a whole can be rewritten on the way."""
        failure = so_far.failure
        if failure is None or self._run.request.repair == "off":
            return False
        from ..repair.whole_program import rewritable

        return bool(contained("the program as a whole", lambda: rewritable(self._run, failure), []))

    def rewritten(self, so_far: Outcome) -> Outcome:
        """Direct again, with that rewritten; and again where IREE refuses another thing then. What does not help is taken back."""
        from ..repair.whole_program import Rewrite, rewrites_for, would_rewrite

        tried, kept = list[Rewrite](), self._rewrites
        beside: tuple[PhaseHook, ...] = ()  # does not help alone, and may with another
        while rewrite := next(
            (
                one
                for one in rewrites_for(so_far.failure)
                if one not in tried and would_rewrite(self._run, one, so_far.failure)
            ),
            None,
        ):
            assert so_far.failure is not None  # `rewrites_for`
            tried.append(rewrite)
            hook = rewrite.hook(so_far.failure.message)
            for hooks in dict.fromkeys(((*kept, hook), (*kept, *beside, hook))):
                self._rewrite_with(hooks)
                after = self._direct(Outcome())
                if rewrite not in rewrites_for(after.failure):
                    so_far, kept, beside = after, hooks, ()
                    break
            else:
                beside = (*beside, hook)
                self._rewrite_with(kept)
        return so_far

    def _rewrite_with(self, hooks: tuple[PhaseHook, ...]) -> None:
        self._rewrites = hooks
        self._run.rewrite_with(hooks)

    def checks_in_the_way(self, so_far: Outcome) -> bool:
        """Whether IREE refuses, before it generates code, a program that run-time checks were put into."""
        return self._run.has_inner_checks and _before_code(so_far.failure)

    def checked_at_entry(self, so_far: Outcome) -> Outcome:
        """Direct again, and rewritten, with run-time checks at the entry of functions alone. What does not help is taken back."""
        assert so_far.failure is not None  # `checks_in_the_way`
        rewrites = self._rewrites
        self._rewrite_with(())
        self._run.leave_checks_out(so_far.failure.message)
        after = self._direct(Outcome())
        if self.rewritable(after):
            after = self.rewritten(after)
        if not _before_code(after.failure):
            return after
        self._run.leave_checks_out("")
        self._rewrite_with(rewrites)
        return so_far

    def checks_in_code(self, so_far: Outcome) -> bool:
        """Whether code that no repair helps may be that of a run-time check."""
        return self.repairable(so_far) and self._run.has_inner_checks and not _before_code(so_far.failure)

    def unchecked(self, so_far: Outcome) -> Outcome:
        """Direct again, without the run-time checks that stand in code. Where that does not help they are taken back."""
        assert so_far.failure is not None  # `checks_in_code`
        self._run.leave_checks_out(so_far.failure.message)
        after = self._direct(Outcome())
        if after.failure is None:
            return after
        self._run.leave_checks_out("")
        return so_far

    def repairable(self, so_far: Outcome) -> bool:
        return so_far.failure is not None and not so_far.threw and self._repairable(so_far.failure)

    def after_failure(self, so_far: Outcome) -> AfterFailure:
        """The attempts that the failure of the direct compile needs; their probe processes end with this compile."""
        if self._after is None:
            from ..probe.probe_pool import ProbePool
            from ..repair.after_failure import AfterFailure

            request = self._run.request
            pool = self._open.enter_context(
                ProbePool(
                    request.flags,
                    request.dispatch_timeout,
                    watch=self._watch,
                    endless=self._endless,
                    translate=self._translate,
                )
            )
            # What the first look found holds for the module as it is; a repair looks again at what it makes.
            kept = so_far.findings if request.repair == "off" and not self._ended else ()
            assert so_far.failure is not None  # `repairable`
            self._after = AfterFailure(
                self._run, so_far.failure, kept, pool, self._progress, self._straight.probe_watched
            )
        return self._after

    def as_it_is(self, so_far: Outcome) -> Outcome:
        """What is left where the repair itself threw: IREE's own answer; what would be wrong is an error."""
        failure = so_far.failure
        if not isinstance(failure, Foreseen):
            return so_far.with_(findings=())
        self._straight.through(self._run.phase_pipeline)
        return so_far.answered(wrong_as_it_is(failure, NOT_CHECKED))

    def _repairable(self, failure: Failure) -> bool:
        """Whether the failure lies behind the phase that boundaries are placed at."""
        if not can_go_back(self._run.request) or phase_index(self._run.request.compile_to) <= phase_index(
            BOUNDARIES_PLACED_AT
        ):
            return False
        return not isinstance(failure, PhaseFailed) or phase_index(failure.phase) > phase_index(
            BOUNDARIES_PLACED_AT
        )


def _before_code(failure: Failure | None) -> bool:
    """Whether IREE stops at the program as a whole, and not at the code of a dispatch."""
    return isinstance(failure, PhaseFailed) and phase_index(failure.phase) <= phase_index(
        DISPATCHES_CONFIGURED_AT
    )


def _after(name: str, make, wanted=lambda one, so_far: True) -> Attempt:
    """An attempt of `AfterFailure`, at a failure behind the phase that boundaries are placed at."""
    return Attempt(
        name,
        lambda one, so_far: make(one.after_failure(so_far), so_far),
        lambda one, so_far: one.repairable(so_far) and wanted(one, so_far),
        "repair",
        True,
    )


def _left_narrow(_one: GuardedCompile, so_far: Outcome) -> bool:
    """Whether what a repair made reads or writes narrow elements wrongly."""
    return bool(so_far.narrow.found)


ATTEMPTS = (
    Attempt("direct", GuardedCompile.direct, lambda one, so_far: True),
    Attempt("entered", GuardedCompile.entered, GuardedCompile.enters),
    Attempt("rewritten", GuardedCompile.rewritten, GuardedCompile.rewritable),
    Attempt("checked at entry", GuardedCompile.checked_at_entry, GuardedCompile.checks_in_the_way),
    _after("packed", lambda after, so_far: after.packed(so_far)),
    _after("repaired", lambda after, so_far: after.repaired(so_far)),
    _after("packed again", lambda after, so_far: after.packed_again(so_far), _left_narrow),
    _after("repaired again", lambda after, so_far: after.repaired_again(so_far), _left_narrow),
    _after(
        "packed last",
        lambda after, so_far: after.packed_last(so_far),
        lambda one, so_far: one.after_failure(so_far).may_be_unlowered(so_far),
    ),
    Attempt("unchecked", GuardedCompile.unchecked, GuardedCompile.checks_in_code),
    _after("report", lambda after, so_far: after.report(so_far)),
    Attempt("as it is", GuardedCompile.as_it_is, lambda one, so_far: so_far.threw),
)
"""What is tried, in this order. `docs/architecture.md` says what each is for."""

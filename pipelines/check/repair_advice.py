"""What would `fissile compile` do about a dispatch that fails in `fissile check`?

The repair loop of `fissile compile` itself answers, on clones and for a few rounds. Where that would cost a compile (code
generation that did not end, more rounds), the finding has the first repairs that the table of strategies offers, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.producers import ProducerGraph
from fissile.passes.analysis.dispatch.provenance import SourceOp, describe_source_ops
from fissile.passes.analysis.memory.footprint import Allocation, Footprint
from fissile.passes.analysis.memory.prediction import Prediction
from fissile.passes.checks.fit.workgroup_fit import space_of

from ..phase_pipeline import PhasePipeline
from ..probe.dispatch_check import CheckedDispatch
from ..probe.stock_outcome import formed_dispatches
from ..repair.edits import Edit, by_remedy
from ..repair.failures import suggested
from ..repair.loop import Checker, RepairLoop
from ..repair.packing import Narrow, advised
from ..repair.reporting import RepairFindings
from ..repair.strategies import ENDLESS
from ..repair.trials import Offers
from ..session import Module

MOST_ROUNDS = 5
"""How often the dispatches of one target are formed for advice: once as they are, then once a trial."""
MOST_NAMED = 3
"""Repairs that are named where none was tried."""
APPLIES_IT = (
    "`fissile compile` applies it; `--repair=suggest` shows the result of a whole compile and writes nothing"
)
TRIES_THEM = "what `fissile compile` tries first, in this order; none of it was tried here"

Reform = Callable[[], tuple[PhasePipeline, Module]]
"""The program at global optimisation once more, with a pipeline that takes it further."""
Predicted = Callable[[Dispatch, Sequence[SourceOp]], tuple[Prediction, Finding | None]]


@dataclass(frozen=True)
class PredictedOnly:
    """Checks dispatches without code generation, for a repair loop: ``predicted`` has the bytes and the finding of one."""

    predicted: Predicted
    generated: int = 0

    def check(self, module: Module, ops: Sequence[SourceOp]) -> list[CheckedDispatch]:
        return [self.checked(dispatch, ops) for dispatch in formed_dispatches(module)]

    def checked(self, dispatch: Dispatch, ops: Sequence[SourceOp]) -> CheckedDispatch:
        prediction, finding = self.predicted(dispatch, ops)
        return CheckedDispatch(dispatch, _footprint(dispatch, prediction), finding)


def _footprint(dispatch: Dispatch, prediction: Prediction) -> Footprint:
    space = space_of(dispatch)
    return Footprint(tuple(Allocation(space, b.bytes, b.type, b.tags, b.place) for b in prediction.buffers))


def advise(
    findings: Sequence[Finding],
    failing: Sequence[CheckedDispatch],
    narrow: Narrow,
    checker: Checker,
    reform: Reform,
) -> list[Finding]:
    """``findings`` with the repair of each that is in ``failing`` or ``narrow``.

    ``checker`` has looked at the program as it is, and looks at what the trials make of it.
    """
    answers = {id(f): suggested(f, APPLIES_IT) for f in findings}
    packed = advised(narrow)
    answers |= {id(f): suggested(packed[id(f)], APPLIES_IT) for f in findings if id(f) in packed}
    errors = [c for c in failing if c.finding is not None and c.finding.severity is Severity.ERROR]
    if errors:
        answers |= _of_dispatches(errors, checker, *reform())
    return [answers[id(finding)] for finding in findings]


def _of_dispatches(
    failing: Sequence[CheckedDispatch], checker: Checker, phase_pipeline: PhasePipeline, origin: Module
) -> dict[int, Finding]:
    """The findings of ``failing`` with advice, by identity."""
    answers = {}
    repaired: list[tuple[set[int], Finding]] = []
    if not any(c.finding is not None and c.finding.code in ENDLESS for c in failing):
        repair_loop = RepairLoop(phase_pipeline, origin, checker=checker, most_rounds=MOST_ROUNDS)
        before = repair_loop.diagnose()
        if before.failed is None:
            repaired = repair_loop.answers(repair_loop.repair(before))
    words: _Offered | None = None
    for one in failing:
        finding = one.finding
        assert finding is not None
        answer = next((a for tags, a in repaired if tags & set(one.dispatch.tags)), None)
        if answer is not None and answer.severity is Severity.REPAIRED:
            notes = tuple(note for note in answer.notes if note not in finding.notes)
            done = finding.with_(
                severity=Severity.REPAIRED, helps=answer.helps, notes=(*finding.notes, *notes)
            )
            answers[id(finding)] = suggested(done, APPLIES_IT)
            continue
        words = words or _Offered(origin)
        answers[id(finding)] = words.of(one)
    return answers


class _Offered:
    """The first rows of the table of strategies for dispatches of one module, in words."""

    def __init__(self, origin: Module) -> None:
        self._graph = ProducerGraph(origin.op)
        self._reporting = RepairFindings(describe_source_ops(origin.op), self._graph)

    def of(self, failing: CheckedDispatch) -> Finding:
        finding = failing.finding
        assert finding is not None
        trials = Offers(self._graph).trials(failing, failing.dispatch.tags)
        offered = list(dict.fromkeys(islice(trials, MOST_NAMED)))
        if not offered:
            return finding.with_(
                notes=(*finding.notes, "no repair of the table of strategies fits this dispatch")
            )
        facts = tuple((f"{number}.", self._row(wanted)) for number, wanted in enumerate(offered, 1))
        return finding.with_(helps=(*finding.helps, Help(TRIES_THEM, offered[0][0].remedy, False, facts)))

    def _row(self, wanted: Sequence[Edit]) -> str:
        """A set of edits with what is known of it before it is tried: its cost in memory and its numbers."""
        groups = [(by, [self._graph.ops[e.op] for e in group]) for by, group in by_remedy(wanted)]
        costs = next((cost for by, ops in groups if (cost := by.costs(ops))), "")
        numbers = max((by.exactness for by, _ops in groups), key=list(type(groups[0][0].exactness)).index)
        parts = (self._reporting.sentences(wanted, advice=True), costs, f"numbers: {numbers.value}")
        return "; ".join(filter(None, parts))

"""The storage guard: proves that a module stays inside its storage, and asserts what cannot be
proved.

It looks at the output of IREE's input phase (GUARDED_AT): whatever the front end was, the program is
ops on tensors there, nothing has been optimised on the strength of a size that may be wrong, and an
assert at function level stays on the host, before the first dispatch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from iree.compiler import ir

from fissile.dialect import load_dialects
from fissile.errors import UsageError, closest
from fissile.finding import Finding, Severity, ordered
from fissile.passes.analysis.bounds.value_names import naming
from fissile.passes.analysis.storage.flow_rules import RULES as LISTING
from fissile.passes.analysis.storage.proof import SMT_TIMEOUT_MS
from fissile.passes.checks.storage.outside_indices import (
    check_outside_indices,
    indexed_op,
    outside_indices,
)
from fissile.passes.checks.storage.storage_fit import (
    Judged,
    StorageReport,
    contract_of,
    findings_of,
    judge_storage,
    smt_note,
)
from fissile.passes.containment import contained
from fissile.passes.iree.flags import ASSERTS_STRIPPED_BY, is_on
from fissile.passes.remedies.storage.assert_bounds import (
    Placed,
    assert_obligations,
    drop_requires,
    is_assertable,
)
from fissile.passes.remedies.storage.lower_requires import lower_require, requires_in_bodies
from fissile.passes.remedies.storage.own_sizes import list_own_sizes
from fissile.passes.remedies.storage.unreachable_ops import take_away
from fissile.verdict import Answer

GUARDED_AT = "input"
MODES = ("off", "check", "assert")


@dataclass(frozen=True)
class GuardResult:
    """What the guard found and did.

    ``contract`` lists, by function, what a caller must keep to. ``proved`` counts the obligations
    that each tier proved, ``asserts`` the checks that were added (``at_entry`` of them where a function begins,
    ``elementwise`` of them with a dispatch of their own). Unless ``changed``, the module is as it was, to the byte.
    """

    findings: tuple[Finding, ...] = ()
    changed: bool = False
    contract: dict[str, tuple[str, ...]] = field(default_factory=dict)
    proved: dict[str, int] = field(default_factory=dict)
    asserts: int = 0
    at_entry: int = 0
    elementwise: int = 0


def guard(
    module: ir.Operation,
    mode: str = "assert",
    *,
    smt_timeout_ms: int = SMT_TIMEOUT_MS,
    asserts_stripped: bool = False,
    declared: Mapping[str, Sequence[str]] | None = None,
    bounded: bool = False,
    rejected: str = "",
    before_change: Callable[[], object] = lambda: None,
) -> GuardResult:
    """Guards ``module``, the output of phase GUARDED_AT, in place.

    ``check`` only reports; ``assert`` adds asserts too; ``off`` does neither. ``asserts_stripped`` says
    that an option removes asserts (see `strips_asserts`): then none is trusted, none is added, and
    FIS203 says so. ``declared`` are the names of arguments that the input had, ``bounded`` whether its gathers and
    scatters are defined for any index (`InputMarks`); then they are kept inside, and are no obligation. A refuted obligation is an error (FIS201), and nothing is changed.
    ``rejected`` is what IREE says of the program with all checks: those inside of its control flow are left out (FIS205).
    ``before_change`` is called before the first change, if there is one. Raises UsageError for an unknown mode.
    """
    if mode not in MODES:
        raise UsageError(f"unknown guard mode '{mode}'", closest(mode, list(MODES)))
    if mode == "off":
        return GuardResult()
    op = module.operation
    if inner := contained("preconditions of elements", lambda: requires_in_bodies(op), []):
        before_change()
        load_dialects(op.context, ("cf",))
        for one in inner:
            lower_require(one)
    with naming(op, declared or {}):
        judge = partial(judge_storage, op, smt_timeout_ms=smt_timeout_ms, trust_asserts=not asserts_stripped)
        findings: list[Finding] = []
        report, kept_inside = judge(), False
        if bounded and (outside := outside_indices(report)):
            kept_inside = mode == "assert"
            if kept_inside:
                before_change()
            report, findings = _kept_inside(op, report, outside, judge if kept_inside else None)
    unknown = report.having(Answer.UNKNOWN)
    refuted = bool(report.having(Answer.REFUTED))
    asserting = mode == "assert" and not asserts_stripped and not refuted
    requires = [j.obligation for j in report.judged if j.obligation.kind == "fissile.require"]
    placed = Placed(
        0, 0, 0, tuple(j.obligation for j in unknown if not is_assertable(report.extents, j.obligation))
    )
    if asserting and (unknown or requires):
        before_change()
        load_dialects(op.context, ("arith", "cf", "tensor", "linalg", "memref"))
        placed = assert_obligations(report.extents, unknown, entry_only=bool(rejected))
        if any(j.obligation.op.name in LISTING for j in unknown):
            apart = {o.op for o in placed.unprotected}
            ops = (j.obligation.op for j in report.judged if j.obligation.op.name in LISTING)
            list_own_sizes(report.extents, (listing for listing in ops if listing not in apart))
    why = (f"IREE rejects the program with a check here: {rejected}",) if rejected else ()
    findings += findings_of(report, asserting, placed.unprotected, *why)
    contract = contract_of(report)
    if asserting:  # only now: what is reported reads their places
        left_out = {id(o) for o in placed.unprotected}
        take_away(
            j.obligation
            for j in unknown
            if j.decision.fails_if_run and j.obligation.elements is None and id(j.obligation) not in left_out
        )
        drop_requires(requires)
    if unknown and asserts_stripped:
        findings.append(
            Finding(
                "FIS203",
                f"--{ASSERTS_STRIPPED_BY} removes the run-time checks that {len(unknown)} "
                + ("size needs" if len(unknown) == 1 else "sizes need"),
                Severity.WARNING,
                "storage",
            )
        )
    if note := smt_note(report):
        findings.append(note)
    return GuardResult(
        ordered(findings),
        kept_inside or asserting and bool(placed.asserts or requires),
        contract,
        report.tiers(),
        placed.asserts,
        placed.at_entry,
        placed.elementwise,
    )


def _kept_inside(
    op: ir.Operation,
    report: StorageReport,
    outside: Sequence[Judged],
    judge: Callable[[], StorageReport] | None,
) -> tuple[StorageReport, list[Finding]]:
    """What is left of ``report``, and FIS209 of ``outside``: kept inside in ``op``, of which ``judge`` then makes a new report; without
    it only reported."""
    if judge is None:
        return report.without({indexed_op(one) for one in outside}), check_outside_indices(outside)
    from fissile.passes.remedies.storage.bound_indices import BoundIndices, keep_inside

    remedy = BoundIndices()
    load_dialects(op.context, remedy.dialects)
    left, findings = keep_inside(report, outside, judge)
    done = remedy.help(("pass", str(remedy)), ("numerics", remedy.numbers))
    return left, [one.with_(severity=Severity.REPAIRED, helps=(done,)) for one in findings]


def strips_asserts(flags: Sequence[str]) -> bool:
    """Whether these iree-compile flags remove asserts; the last one counts."""
    return is_on(flags, ASSERTS_STRIPPED_BY)

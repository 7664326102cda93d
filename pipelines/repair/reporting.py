"""What the repair loop says of its decisions: for each failing dispatch what was done, what it costs, what did not help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.dispatch.producers import ProducerGraph
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.remedies.decompose.decompose_attention import NUMERICS, scores_bytes
from fissile.passes.remedies.narrow.expand_scalars import rounding_of
from fissile.quantity import Bytes, total

from .edits import (
    ATTENTION_APART,
    BY_ELEMENT,
    CONFIGURE,
    CUT,
    DECOMPOSE,
    DROP,
    EXPAND,
    EXTEND,
    FLAT,
    FLAT_SUMS,
    FOLD,
    MOVEMENT_APART,
    RANK,
    RESULTS_APART,
    SPLIT,
    WIDEN,
    Edit,
    edits,
    passes_of,
)
from .repair_case import Case, Diagnosis

_DONE = {
    CUT: "kept {ops} out of this dispatch, read {them} back by tile",
    DROP: "dropped the configuration of {ops}: IREE chooses one for this target",
    DECOMPOSE: "computed {ops} as its parts: maximum, exponentials, sum and quotient",
    ATTENTION_APART: "computed {ops} as its parts: scores, maxima, powers, sums and weighted values",
    MOVEMENT_APART: "read each element of {ops} from its place",
    RANK: "sorted {ops} by rank: counted for each element how many precede it, by a thread each",
    SPLIT: "added {ops} up in parts, and then the parts",
    EXTEND: "extended the narrow operands of {ops} once, in dispatches of their own",
    RESULTS_APART: "computed each result of {ops} by an op of its own",
    EXPAND: "computed what the target lacks in {ops} by simpler ops",
    WIDEN: "accumulated {ops} in f32",
    CONFIGURE: "gave {ops} a lowering configuration of its own",
    FOLD: "computed {ops} inside the consumer's body",
    BY_ELEMENT: "computed {ops} element by element, without vectors",
    FLAT: "made the loops of {ops} one, with an element of the result to each thread",
    FLAT_SUMS: "made the loops of {ops} that reduce one, and the others one",
}
_TO_DO = {
    "kept": "keep",
    "computed": "compute",
    "accumulated": "accumulate",
    "gave": "give",
    "extended": "extend",
    "read": "read",
    "added": "add",
    "made": "make",
    "packed": "pack",
    "dropped": "drop",
    "took": "take",
    "sliced": "slice",
    "sorted": "sort",
}


class RepairTold:
    """Words for the repairs of one module, whose ``ops`` and ``graph`` are those that the edits name."""

    def __init__(self, ops: Sequence[SourceOp], graph: ProducerGraph) -> None:
        self._ops = ops
        self._graph = graph

    def repaired(self, case: Case, before: Diagnosis, after: Diagnosis) -> Finding:
        """The finding of a dispatch that passes now."""
        finding = case.first.finding
        return finding.with_(
            severity=Severity.REPAIRED,
            helps=(self._help(case, before, after),),
            notes=(*finding.notes, *self._what_does_not_help(case)),
        )

    @staticmethod
    def not_repaired(case: Case) -> Finding:
        """The finding of a dispatch that still fails: an error unless stock IREE builds it and its numbers are right."""
        finding = case.first.finding
        tried = len(case.tried)
        note = (
            f"no remedy helps: {tried} tried ({', '.join(sorted({e.remedy for t in case.tried for e in t}))})"
            if tried
            else "no remedy applies: the dispatch has no producer that could be cut off or folded"
        )
        return finding.with_(notes=(*finding.notes, note))

    def tuned(self, finding: Finding, tags: Sequence[int], before: Diagnosis, after: Diagnosis) -> Finding:
        """The finding of a recomputed producer that is computed once now, in a dispatch of its own."""
        crossing = [self._graph.result_bytes(tag) or 0 for tag in tags]
        facts = (
            ("costs", f"{_more(before, after)}; {sum(crossing)} bytes written once to memory, then read"),
            *(("pass", text) for text in passes_of(edits(CUT, tags))),
        )
        title = f"computed {' and '.join(self._names(tags))} once, in a dispatch of its own"
        return finding.with_(severity=Severity.REPAIRED, notes=(), helps=(Help(title, CUT, True, facts),))

    def _help(self, case: Case, before: Diagnosis, after: Diagnosis) -> Help:
        spread = sorted(case.spread(case.accepted))
        largest = _largest(case, after)
        size = "unknown" if largest.value is None else f"{largest.value} bytes"
        facts = [("after", f"{size} ({largest.how_known}; IREE chose its tiles anew)")]
        if cut := [edit.op for edit in spread if edit.remedy == CUT]:
            crossing = [self._graph.result_bytes(tag) for tag in cut]
            known = sum(c for c in crossing if c is not None)
            through = f"{known} bytes" + (" and results of dynamic size" if None in crossing else "")
            facts.append(
                (
                    "costs",
                    f"{_more(before, after)}; {through} written once to global memory, then read by tile",
                )
            )
        elif any(edit.remedy == EXTEND for edit in spread):
            facts.append(
                ("costs", f"{_more(before, after)}; the wide operands are written once to global memory")
            )
        elif any(edit.remedy == SPLIT for edit in spread):
            facts.append(
                ("costs", f"{_more(before, after)}; the parts' sums are written once to global memory")
            )
        elif any(edit.remedy == RANK for edit in spread):
            facts.append(
                (
                    "costs",
                    f"{_more(before, after)}; as many comparisons as IREE's sort, by all threads together",
                )
            )
        elif apart := [edit.op for edit in spread if edit.remedy == ATTENTION_APART]:
            scores = [scores_bytes(self._graph.ops[op]) for op in apart]
            known = f"{sum(scores)} bytes of scores" if None not in scores else "scores of dynamic size"
            facts.append(
                ("costs", f"{_more(before, after)}; {known} written to memory twice, as scores and as powers")
            )
        elif any(edit.remedy == FOLD for edit in spread):
            facts.append(("costs", "no intermediate; evaluated for every use, and matrix units are not used"))
        elif any(edit.remedy == RESULTS_APART for edit in spread):
            facts.append(("costs", f"{_more(before, after)}; the inputs are read once for each result"))
        elif any(edit.remedy == BY_ELEMENT for edit in spread):
            facts.append(
                (
                    "costs",
                    f"{_more(before, after)}; every operand is read from memory for every use, no vectors",
                )
            )
        if any(edit.remedy == ATTENTION_APART for edit in spread):
            facts.append(("numerics", NUMERICS))
        if any(edit.remedy == WIDEN for edit in spread):
            facts.append(
                (
                    "rounding",
                    "one 16-bit rounding at the end instead of one per term: closer to the exact sum",
                )
            )
        if any(edit.remedy == RANK for edit in spread):
            facts.append(
                ("order", "stable: elements that the comparator does not tell apart keep their order")
            )
        if any(edit.remedy == SPLIT for edit in spread):
            facts.append(
                ("rounding", "the same terms in another order, with fewer roundings one after the other")
            )
        if inexact := {
            said
            for edit in spread
            if edit.remedy == EXPAND and (said := rounding_of(self._graph.ops[edit.op]))
        }:
            facts.append(("rounding", "; ".join(sorted(inexact))))
        alike = len(case.families) - 1
        if alike > 0:
            facts.append(
                (
                    "alike",
                    f"{alike} more dispatch{'es' if alike > 1 else ''} of equal body, repaired the same way",
                )
            )
        facts += [("pass", text) for text in passes_of(spread)]
        return Help(self._what_was_done(case.accepted), case.accepted[0].remedy, True, tuple(facts))

    def _what_was_done(self, accepted: Sequence[Edit]) -> str:
        sentences = []
        for remedy in sorted({_kind(edit) for edit in accepted}, key=list(_DONE).index):
            names = self._names(edit.op for edit in accepted if _kind(edit) == remedy)
            listed = names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"
            sentences.append(_DONE[remedy].format(ops=listed, them="it" if len(names) == 1 else "them"))
        return "; ".join(sentences)

    def _what_does_not_help(self, case: Case) -> tuple[str, ...]:
        if any(edit.remedy != CUT for edit in case.accepted):
            only_cuts = any(all(edit.remedy == CUT for edit in tried) for tried in case.tried)
            return ("no fusion boundary helps",) if only_cuts else ()
        failed = [t[0].op for t in case.tried if len(t) == 1 < len(case.accepted) and t[0].remedy == CUT]
        names = sorted(set(self._names(failed)))
        return (f"a boundary on {' or '.join(names)} alone is not enough",) if names else ()

    def _names(self, tags: Iterable[int]) -> list[str]:
        """Each op's name in the source, or what it is; each once."""
        return list(
            dict.fromkeys(self._ops[tag].name or f"the result of {self._ops[tag].op}" for tag in tags)
        )


def _kind(edit: Edit) -> str:
    """What was done, as `_DONE` tells it apart."""
    return edit.detail if edit.remedy == BY_ELEMENT and edit.detail else edit.remedy


def to_do(title: str) -> str:
    """A repair's title as advice: `kept … out` becomes `keep … out`, for each of its parts."""
    parts = (part.partition(" ") for part in title.split("; "))
    return "; ".join(f"{_TO_DO.get(verb, verb)} {rest}" for verb, _, rest in parts)


def _largest(case: Case, after: Diagnosis) -> Bytes:
    """On-chip bytes of the largest dispatch that holds an op of ``case`` now."""
    sums = (
        total(a.bytes for a in c.footprint.allocations)
        for c in after.checked
        if case.own_tags & set(c.dispatch.tags)
    )
    return max(sums, key=lambda b: b.value or 0, default=Bytes.exact(0))


def _more(before: Diagnosis, after: Diagnosis) -> str:
    more = len(after.checked) - len(before.checked)
    return f"{more} more dispatch{'es' if abs(more) != 1 else ''} in the module"

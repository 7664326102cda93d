"""What the repair loop says of its decisions: for each failing dispatch what was done, what it costs, what did not help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.dispatch.producers import ProducerGraph
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.quantity import Bytes, total

from .edits import CUT, Edit, by_remedy, edits, passes_of
from .repair_case import Case, Diagnosis

MAX_REJECTED = 6
"""Lines about trials that were not taken, in one finding."""
LONGEST = 140
"""Characters of an edit or of a reason in such a line."""


class RepairFindings:
    """Words for the repairs of one module, whose ``ops`` and ``graph`` are those that the edits name."""

    def __init__(self, ops: Sequence[SourceOp], graph: ProducerGraph) -> None:
        self._ops = ops
        self._graph = graph

    def repaired(self, case: Case, before: Diagnosis, after: Diagnosis) -> Finding:
        """The finding of a dispatch that passes now."""
        finding = case.first.failure
        return finding.with_(
            severity=Severity.REPAIRED,
            helps=(self._help(case, before, after),),
            notes=(*finding.notes, *self._what_does_not_help(case)),
        )

    def not_repaired(self, case: Case) -> Finding:
        """The finding of a dispatch that still fails: an error unless stock IREE builds it and its numbers are right."""
        finding = case.first.failure
        tried = len(case.tried)
        note = (
            f"no remedy helps: {tried} tried ({', '.join(sorted({e.remedy for t in case.tried for e in t}))})"
            if tried
            else "no remedy applies: the dispatch has no producer that could be cut off or folded"
        )
        return finding.with_(notes=(*finding.notes, note, *self._rejected(case)))

    def _rejected(self, case: Case) -> tuple[str, ...]:
        """What was tried and why it was not taken, a line each; trials of the same kind that ended alike are one."""
        kinds: dict[tuple, list[tuple[Edit, ...]]] = {}
        for tried, why in case.rejected.items():
            kinds.setdefault((*sorted({e.remedy for e in tried}), why), []).append(tried)
        lines = []
        for (*_remedies, why), alike in kinds.items():
            more = f" (and {len(alike) - 1} more like it)" if len(alike) > 1 else ""
            lines.append(
                f"tried: {_short(self.sentences(alike[0], advice=True))}{more}; not taken: {_short(why)}"
            )
        left = len(lines) - MAX_REJECTED
        trials = "1 other trial" if left == 1 else f"{left} other trials"
        return (*lines[:MAX_REJECTED], *((f"{trials} ended otherwise",) if left > 0 else ()))

    def tuned(self, finding: Finding, wanted: Sequence[Edit], before: Diagnosis, after: Diagnosis) -> Finding:
        """The finding of what was slow, and is not with the edits ``wanted``, all of one remedy."""
        if wanted[0].remedy != CUT:
            costs = wanted[0].by.costs([self._graph.ops[edit.op] for edit in wanted])
            facts = (("costs", _listed(_more(before, after), costs)), *(("pass", text) for text in passes_of(wanted)))  # fmt: skip
            done = Help(
                self.sentences(wanted, False), wanted[0].remedy, True, facts, self.sentences(wanted, True)
            )
            return finding.with_(severity=Severity.REPAIRED, notes=(), helps=(done,))
        tags = [edit.op for edit in wanted]
        crossing = [self._graph.result_bytes(tag) or 0 for tag in tags]
        facts = (
            (
                "costs",
                _listed(_more(before, after), f"{sum(crossing)} bytes written once to memory, then read"),
            ),
            *(("pass", text) for text in passes_of(edits(CUT, tags))),
        )
        once = f"{' and '.join(self._names(tags))} once, in a dispatch of its own"
        done = Help(f"computed {once}", CUT, True, facts, f"compute {once}")
        return finding.with_(severity=Severity.REPAIRED, notes=(), helps=(done,))

    def _help(self, case: Case, before: Diagnosis, after: Diagnosis) -> Help:
        spread = [
            (applied, [self._graph.ops[e.op] for e in group])
            for applied, group in by_remedy(case.spread(case.edits))
        ]
        largest = _largest(case, after)
        size = "unknown" if largest.value is None else f"{largest.value} bytes"
        facts = [("after", f"{size} ({largest.how_known}; IREE chose its tiles anew)")]
        costs = next((cost for applied, ops in spread if (cost := applied.costs(ops))), "")
        if costs:
            facts.append(("costs", _listed(_more(before, after), costs)))
        facts += [row for applied, ops in spread for row in applied.facts(ops)]
        alike = len(case.families) - 1
        if alike > 0:
            facts.append(
                (
                    "alike",
                    f"{alike} more dispatch{'es' if alike > 1 else ''} of equal body, repaired the same way",
                )
            )
        merged = len({edit.op for edit in case.spread(case.edits)} - case.all_tags)
        if merged:
            facts.append(
                (
                    "merged",
                    f"{merged} more op{'s' if merged > 1 else ''} that IREE had merged with these, changed the same way",
                )
            )
        facts += [("pass", text) for text in passes_of(case.spread(case.edits))]
        done, advice = (self.sentences(case.edits, advice) for advice in (False, True))
        return Help(done, case.edits[0].remedy, True, tuple(facts), advice)

    def sentences(self, accepted: Sequence[Edit], advice: bool) -> str:
        """What was done, or is advised, remedy by remedy."""
        sentences = []
        for applied, group in by_remedy(accepted):
            names = self._names(edit.op for edit in group)
            listed = names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"
            sentences.append(
                applied.sentence(advice).format(ops=listed, them="it" if len(names) == 1 else "them")
            )
        return "; ".join(sentences)

    def _what_does_not_help(self, case: Case) -> tuple[str, ...]:
        if any(edit.remedy != CUT for edit in case.edits):
            only_cuts = any(all(edit.remedy == CUT for edit in tried) for tried in case.tried)
            return ("no fusion boundary helps",) if only_cuts else ()
        failed = [t[0].op for t in case.tried if len(t) == 1 < len(case.edits) and t[0].remedy == CUT]
        names = sorted(set(self._names(failed)))
        return (f"a boundary on {' or '.join(names)} alone is not enough",) if names else ()

    def _names(self, tags: Iterable[int]) -> list[str]:
        """Each op's name in the source, or what it is; each once."""
        return list(
            dict.fromkeys(self._ops[tag].name or f"the result of {self._ops[tag].op}" for tag in tags)
        )


def _largest(case: Case, after: Diagnosis) -> Bytes:
    """On-chip bytes of the largest dispatch that holds an op of ``case`` now."""
    sums = (
        total(a.bytes for a in c.footprint.allocations)
        for c in after.checked
        if case.own_tags & set(c.dispatch.tags)
    )
    return max(sums, key=lambda b: b.value or 0, default=Bytes.exact(0))


def _more(before: Diagnosis, after: Diagnosis) -> str:
    """What a repair adds to the module; empty where that is nothing."""
    more = len(after.checked) - len(before.checked)
    if more == 0:
        return ""
    count = abs(more)
    return f"{count} {'more' if more > 0 else 'fewer'} dispatch{'es' if count > 1 else ''} in the module"


def _listed(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"

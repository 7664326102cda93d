"""One failing dispatch as the table of strategies sees it: its source ops, what fits them, what may be cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from iree.compiler import ir

from fissile.passes.analysis.dispatch.producers import ProducerGraph
from fissile.passes.analysis.dispatch.structure import Structure, structure_of
from fissile.passes.analysis.kernel.evidence import NOTHING
from fissile.passes.analysis.memory.footprint import Allocation
from fissile.passes.failures.failure import codes_of
from fissile.passes.failures.threads.workgroup_race import WorkgroupRace
from fissile.passes.failures.unrolled_code import UnrolledCode
from fissile.quantity import Bytes

from ..probe.dispatch_check import CheckedDispatch
from .cut_search import Candidate
from .edits import CUT, Edit, edits, remedy

LAST_RESULTS = codes_of(lambda one: one.last_results)
UNKNOWN_CROSSING = 1 << 40
"""Ranks a result of dynamic size behind every static one."""


class Situation:
    """``failing`` with those of its source ops (``tags``) that may be edited; ``graph`` is that of its module."""

    def __init__(self, failing: CheckedDispatch, tags: Sequence[int], graph: ProducerGraph) -> None:
        self.failing = failing
        self.tags = tags
        self.graph = graph
        self.code = failing.finding.code if failing.finding is not None else ""

    def op(self, tag: int) -> ir.Operation:
        return self.graph.ops[tag]

    def structure(self, tag: int) -> Structure | None:
        return structure_of(self.op(tag))

    def reduces(self, tag: int) -> bool:
        structure = self.structure(tag)
        return structure is not None and not structure.all_parallel

    def fits(self, name: str, options: str = "", among: Iterable[int] | None = None) -> list[int]:
        """The source ops that the remedy ``name`` can change."""
        chosen = remedy(name, options)
        dispatch = self.failing.dispatch
        return [
            tag for tag in (self.tags if among is None else among) if chosen.match(self.op(tag), dispatch)
        ]

    def each(
        self, name: str, options: str = "", only: Callable[[ir.Operation], bool] = lambda op: True
    ) -> tuple[Edit, ...]:
        """The remedy ``name`` on every source op that it fits and that is wanted."""
        return edits(name, (tag for tag in self.fits(name, options) if only(self.op(tag))), options)

    def cut(self, wanted: Callable[[Candidate], bool]) -> tuple[Edit, ...]:
        """A boundary behind each of the ``wanted`` candidates."""
        return edits(CUT, (c.tag for c in self.candidates if wanted(c)))

    @property
    def races(self) -> tuple[Allocation, ...]:
        """Buffers that threads share without a barrier."""
        return self.failing.seen.get(WorkgroupRace.code, NOTHING).buffers

    @property
    def unrolled(self) -> tuple[int, ...]:
        """Source ops whose results are unrolled over narrow elements."""
        return self.failing.seen.get(UnrolledCode.code, NOTHING).tags

    @cached_property
    def producers(self) -> list[int]:
        """Source ops that feed the dispatch's root."""
        return [c.tag for c in self.candidates if c.upstream]

    @cached_property
    def candidates(self) -> list[Candidate]:
        """Source ops whose results may be cut off."""
        failing, graph = self.failing, self.graph
        blamed = failing.footprint.by_tag()
        racing = {tag for race in self.races for tag in race.tags[:1]}
        root = failing.dispatch.root
        found = []
        for tag in self.tags:
            # What follows the last source op (a slice that is stored elsewhere) can be cut off as well.
            feeds = self.code in LAST_RESULTS or graph.reaches(tag, self.tags)
            # What a result begins with is filled by tile; what an op reads may be kept as a whole.
            is_init = self.op(tag).name == "linalg.fill" and not graph.is_input(tag)
            if is_init and tag not in racing or not feeds:
                continue
            crossing = graph.result_bytes(tag)
            found.append(
                Candidate(
                    tag=tag,
                    blamed=blamed.get(tag, Bytes.exact(0)).value or 0,
                    crossing=UNKNOWN_CROSSING if crossing is None else crossing,
                    racing=tag in racing,
                    upstream=root is not None and tag != root and graph.reaches(tag, [root]),
                )
            )
        return found

    @property
    def excess(self) -> int:
        """Bytes above the limit of on-chip memory."""
        finding = self.failing.finding
        if (
            finding is None
            or finding.limit is None
            or finding.ledger is None
            or finding.ledger.total.value is None
        ):
            return 0
        return max(0, finding.ledger.total.value - finding.limit.bytes)

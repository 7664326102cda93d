"""Does IREE reject a call that is not inlined (FIS178)? Does it reject a loop for the tensors that it starts with (FIS171, FIS172, FIS174), or for sizes that it does not find (FIS176)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.dialect.attributes import text_of
from fissile.finding import Finding, ordered
from fissile.passes.analysis.loops.loop_inits import LoopInit
from fissile.passes.analysis.loops.result_sizes import asked_for
from fissile.passes.analysis.loops.while_operands import Untaken
from fissile.passes.iree import ops as iree_ops

from ..dispatch_places import labelled


def check_shared_inits(found: Iterable[LoopInit]) -> list[Finding]:
    """FIS171, one for each initial value."""
    return list(ordered(_shared(one) for one in found))


def check_passed_on(found: Iterable[LoopInit]) -> list[Finding]:
    """FIS172, one for each loop."""
    loops: list[LoopInit] = []
    for one in found:
        if one.loop not in [other.loop for other in loops]:
            loops.append(one)
    return list(ordered(_passed_on(one) for one in loops))


def check_while_operands(found: Iterable[Untaken]) -> list[Finding]:
    """FIS174, one for each loop."""
    return list(
        ordered(
            Finding(
                "FIS174",
                f"a while loop starts with {'less' if one.extra else 'more'} than its condition passes on, and IREE converts its body for "
                "other arguments",
                subject=one.loop.name,
                places=labelled(place_of(one.loop), "this loop"),
            )
            for one in found
        )
    )


def check_result_sizes(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS176, one for each op of which a result's size is read."""
    return list(
        ordered(
            Finding(
                "FIS176",
                f"the size of a tensor that {op.name} passes on is read, and IREE finds no op that knows it",
                subject=op.name,
                places=labelled(place_of(op), "the size is known at run time only"),
            )
            for op in asked_for(list(found))
        )
    )


def check_calls(found: Iterable[tuple[ir.Operation, list[ir.Operation]]]) -> list[Finding]:
    """FIS178, one for each call."""
    return list(
        ordered(
            Finding(
                "FIS178",
                f"a call of @{text_of(function, 'sym_name')}, which IREE is not to inline, is rejected: its tensors have other storage or "
                "sizes than the function's",
                subject=f"@{text_of(function, 'sym_name')}",
                places=(
                    *labelled(place_of(call), "this call"),
                    *labelled(place_of(function), "of this function"),
                ),
            )
            for function, calls in found
            for call in calls
        )
    )


def check_updated_globals(stores: Iterable[ir.Operation]) -> list[Finding]:
    """FIS224, one for each global that the ``stores`` store."""
    first = {text_of(store, "global"): store for store in reversed(list(stores))}
    return list(
        ordered(
            Finding(
                "FIS224",
                f"a loop updates global @{name} in place, and IREE has the update wait for itself",
                subject=f"@{name}",
                places=labelled(place_of(store), "in a loop"),
            )
            for name, store in first.items()
        )
    )


def _shared(one: LoopInit) -> Finding:
    producer = one.producer
    assert producer is not None  # `shared_inits`
    what = "an argument" if producer.name == iree_ops.HAL_TENSOR_IMPORT else f"the result of {producer.name}"
    return Finding(
        "FIS171",
        f"a loop starts with {what}, which other ops use as well, and IREE schedules it with ops that wait for "
        "the loop",
        subject=one.loop.name,
        places=(
            *labelled(place_of(one.loop), "this loop"),
            *labelled(place_of(producer), "starts with this"),
        ),
    )


def _passed_on(one: LoopInit) -> Finding:
    return Finding(
        "FIS172",
        "a loop or a branch passes on tensors from outside, and IREE gives them storage classes that contradict each other",
        subject=one.loop.name,
        places=labelled(place_of(one.loop), "this loop"),
    )

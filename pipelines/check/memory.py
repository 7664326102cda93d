"""Peak live bytes over program time: what `fissile check --memory` says of a target."""

from __future__ import annotations

import re

from iree.compiler import ir

from fissile.dialect import ops_of, place_of
from fissile.dialect.views import view_of
from fissile.passes.analysis.lifetime.explore import Moment
from fissile.passes.analysis.lifetime.module import Lifetimes, lifetimes_of
from fissile.passes.analysis.lifetime.steps import Step
from fissile.passes.analysis.program.source_lines import line_at
from fissile.passes.iree import ops as iree_ops
from fissile.quantity import Bytes

_NAME = re.compile(r"\s*(%[\w$.-]+)(?::\d+)?\s*=")


def memory_of(module: ir.Operation) -> list[dict]:
    """One entry of JSON values for each function that allocates; ``module`` is scheduled (phase stream or behind it).

    Bytes are those of transients and results; the caller's inputs and the program's constants are not among them.
    """
    return [_facts(seen) for seen in lifetimes_of(module) if seen.walk.moments]


def _facts(seen: Lifetimes) -> dict:
    peak, bound = seen.walk.peak, seen.walk.bound
    steps = seen.flow.steps
    moments = [moment for _, moment in sorted(seen.walk.moments.items()) if steps[moment.at].op is not None]
    return {
        "function": seen.name,
        "complete": seen.walk.complete,
        "peak": peak.live.value,
        "bound": bound.needed.value,
        "at": _place(steps[peak.at]),
        "alive": [_alive(steps[made], made in peak.needed_by) for made in peak.held],
        "over_time": [_moment(steps[moment.at], moment) for moment in _changes(moments)],
    }


def _changes(moments: list[Moment]) -> list[Moment]:
    """Only the moments at which the number of bytes is another one than before."""
    found: list[Moment] = []
    for moment in moments:
        if not found or (found[-1].live, found[-1].needed) != (moment.live, moment.needed):
            found.append(moment)
    return found


def _moment(step: Step, moment: Moment) -> dict:
    assert step.op is not None  # of an allocation or a use
    return {"at": _place(step), "op": step.op.name, "live": moment.live.value, "needed": moment.needed.value}


def _alive(step: Step, needed: bool) -> dict:
    """An allocation with the tensors in it: those that dispatches write there, by the program's names."""
    made = step.op
    assert made is not None
    names = list(dict.fromkeys(name for op in _writers(made) if (name := _name(op))))
    sizes = [one.bytes for one in step.made] or [Bytes.unknown("no size")]
    return {
        "bytes": sizes[0].value,
        "tensors": names or [_name(made) or made.name],
        "needed": needed,
        "at": _place(step),
    }


def _writers(made: ir.Operation) -> list[ir.Operation]:
    """The commands inside executes that take the allocation."""
    found = []
    for use in made.results[0].uses:
        user = use.owner.operation
        if user.name != iree_ops.STREAM_CMD_EXECUTE:
            continue
        inside = dict(zip(view_of(user).resource_operands, user.regions[0].blocks[0].arguments, strict=False))
        argument = inside.get(made.results[0])
        for command in (*ops_of(user, iree_ops.STREAM_CMD_DISPATCH), *ops_of(user, iree_ops.STREAM_CMD_FILL)):
            if argument is not None and any(value == argument for value in command.operands):
                found.append(command)
    return found


def _name(op: ir.Operation) -> str:
    """What the program calls the result that ``op`` computes."""
    place = place_of(op)
    match = _NAME.match(line_at(place))
    return match[1] if match else ""


def _place(step: Step) -> str:
    place = place_of(step.op) if step.op is not None else None
    return str(place) if place else ""

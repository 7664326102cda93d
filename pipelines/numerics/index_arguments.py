"""Which integer arguments of a function are places in tensors, and up to where they may go."""

from __future__ import annotations

import re
from pathlib import Path

from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops

_PLACES = re.compile(
    r"gather|scatter|index_select|embedding|index_put|aten\.index|aten\.take|dynamic_slice|dynamic_update|"
    r"tensor\.extract|tensor\.insert|tensor\.load|flow\.tensor\.slice|flow\.tensor\.update"
)
"""Names of ops, of IREE's dialects and of front ends', that read or write a tensor at places given by integers."""

_CHANGES = re.compile(r"cmp|compare|sitofp|uitofp|\.sum|matmul|dot")
"""Behind these an integer is no place any more."""

_MOST_VALUES = 4096
"""Values that are followed; a larger function's arguments are drawn without bounds."""


def index_limits(source: Path, function: str) -> dict[int, tuple[int, int]]:
    """By argument: the closed range that is a place in every tensor that it selects from, as far as can be read.

    ``source`` is an MLIR file, at any level. A value is followed through the ops that use it, into their bodies; a
    dynamic tensor allows 0 only.
    """
    from iree.compiler import ir
    from iree.compiler.api import Session

    session = Session()
    with session.context:
        try:
            module = ir.Module.parse(source.read_bytes())
        except ir.MLIRError:
            return {}  # the compile says so
        for op in module.body.operations:
            op = op.operation
            if op.name in ("func.func", iree_ops.UTIL_FUNC) and text_of(op, "sym_name") == function:
                arguments = list(op.regions[0].blocks[0].arguments) if op.regions[0].blocks else []
                found = {i: _limit(argument) for i, argument in enumerate(arguments) if _integers(argument)}
                return {i: (0, most) for i, most in found.items() if most is not None}
    return {}


def _integers(value) -> bool:
    """i32, i64 or index: narrower ones are data."""
    return bool(re.search(r"(?:^|x|,\s*)(?:s?i(?:32|64)|index)\b|^!torch\.int$", str(value.type)))


def _limit(argument) -> int | None:
    """The largest place that ``argument`` may have; None where it is no place."""

    seen, pending, most = {argument}, [argument], None
    while pending and len(seen) < _MOST_VALUES:
        value = pending.pop()
        for use in value.uses:
            op, number = use.owner.operation, use.operand_number
            if _PLACES.search(op.name):
                reach = _smallest_extent(op, value)
                if reach is not None:
                    most = reach if most is None else min(most, reach)
                    continue
            if _CHANGES.search(op.name):
                continue
            into = [r for r in op.results if _integers(r)]
            for region in op.regions:
                if (
                    region.blocks
                    and op.name.startswith("linalg.")
                    and number < len(region.blocks[0].arguments)
                ):
                    into.append(region.blocks[0].arguments[number])
            pending += [v for v in into if v not in seen]
            seen.update(into)
    return most


def _smallest_extent(op, value) -> int | None:
    """The last place that is inside every dimension of every other tensor that ``op`` takes."""
    extents = []
    for operand in op.operands:
        dims = re.search(r"(?:tensor<|vtensor<\[)([\d?x, ]*)", str(operand.type))
        if operand == value or not dims:
            continue
        extents += [
            int(d) if d.isdigit() else 1
            for d in re.split(r"[x, ]+", dims[1])
            if d and (d.isdigit() or d == "?")
        ]
    return max(min(extents) - 1, 0) if extents else None

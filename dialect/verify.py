"""Are the fissile ops and attributes of a module well formed? One finding (FIS402) for each broken rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from iree.compiler import ir

from fissile.errors import closest
from fissile.finding import Finding, ordered

from .ops import BUDGET, GROUP_TERMINATOR, NAMESPACE, OP_NAMES, STORAGE_TYPE
from .places import place_of


def verify_dialect(root: ir.Operation) -> list[Finding]:
    """All that is wrong with the fissile ops in ``root``, in order of place; nothing is changed."""
    findings: list[Finding] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        for sentence in _complaints(op):
            place = place_of(op)
            findings.append(
                Finding(
                    code="FIS402",
                    message=f"{op.name}: {sentence}",
                    subject=op.name,
                    places=(place,) if place else (),
                )
            )
        return ir.WalkResult.ADVANCE

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return list(ordered(findings))


def _complaints(op: ir.Operation) -> Iterator[str]:
    if BUDGET in op.attributes:
        yield from budget_complaints(op.attributes[BUDGET])
    if not op.name.startswith(NAMESPACE + "."):
        return
    rule = _RULES.get(op.name)
    if rule is None:
        yield f"the dialect has no such op; {closest(op.name, list(OP_NAMES))}"
        return
    regions = 1 if op.name == "fissile.group" else 0
    if len(op.regions) != regions:
        yield f"it takes {_count(regions, 'region')}, not {len(op.regions)}"
        return
    yield from rule(op)


def budget_complaints(attribute: ir.Attribute) -> Iterator[str]:
    """What is wrong with the value of a `fissile.budget`."""
    if not isinstance(attribute, ir.IntegerAttr) or str(attribute.type) != "i64":
        yield f"{BUDGET} is a number of bytes, written N : i64, not {attribute}"
    elif attribute.value <= 0:
        yield f"{BUDGET} is a positive number of bytes, not {attribute.value}"


def _boundary(op: ir.Operation) -> Iterator[str]:
    yield from (wrong := list(_shape(op, operands=1, results=1)))
    if wrong:
        return
    value, result = op.operands[0].type, op.results[0].type
    if not _is_tensor(value):
        yield f"its operand is a ranked tensor, not {value}"
    if value != result:
        yield f"its result has the type of its operand, {value}, not {result}"
    if op.parent is not None and op.parent.name == "fissile.group":
        yield "a boundary inside a group contradicts it: the group's ops stay in one dispatch"


def _group(op: ir.Operation) -> Iterator[str]:
    yield from _shape(op, operands=0, results=None)
    if not list(op.results):
        yield "it has no result, so nothing in it is used"
    for result in op.results:
        if not _is_tensor(result.type):
            yield f"its results are ranked tensors, not {result.type}"
    if _inside(op, "fissile.group"):
        yield "groups do not nest"
    blocks = list(op.regions[0].blocks)
    if len(blocks) != 1:
        yield f"its body is one block, not {len(blocks)}"
        return
    if list(blocks[0].arguments):
        yield "its block takes no arguments: the body uses values from outside directly"
    last = list(blocks[0].operations)[-1].operation if list(blocks[0].operations) else None
    if last is None or last.name != GROUP_TERMINATOR:
        yield f"its body ends with {GROUP_TERMINATOR}, not with {last.name if last else 'nothing'}"
        return
    yielded = ", ".join(str(value.type) for value in last.operands)
    results = ", ".join(str(value.type) for value in op.results)
    if yielded != results:
        yield f"its body yields ({yielded}), its results are ({results})"


def _require(op: ir.Operation) -> Iterator[str]:
    yield from (wrong := list(_shape(op, operands=1, results=0)))
    if not wrong and str(op.operands[0].type) != "i1":
        yield f"its condition is an i1, not {op.operands[0].type}"
    message = op.attributes["message"] if "message" in op.attributes else None
    if not isinstance(message, ir.StringAttr) or not message.value:
        yield 'it needs a sentence for the case that it does not hold: {message = "…"}'


def _alloc_storage(op: ir.Operation) -> Iterator[str]:
    yield from (wrong := list(_shape(op, operands=1, results=1)))
    if wrong:
        return
    if not _is_index(op.operands[0].type):
        yield f"its capacity is an index, in bytes, not {op.operands[0].type}"
    if not _is_storage(op.results[0].type):
        yield f"its result is {STORAGE_TYPE}, not {op.results[0].type}"


def _alloc_tensor(op: ir.Operation) -> Iterator[str]:
    if len(op.operands) < 2:
        yield (
            f"it takes a storage, an offset in bytes and a size for each dynamic dimension, not "
            f"{_count(len(op.operands), 'operand')}"
        )
        return
    yield from (wrong := list(_shape(op, operands=None, results=1)))
    if not _is_storage(op.operands[0].type):
        yield f"its first operand is {STORAGE_TYPE}, not {op.operands[0].type}"
    for operand in list(op.operands)[1:]:
        if not _is_index(operand.type):
            yield f"its offset and sizes are index, not {operand.type}"
    if wrong:
        return
    result = op.results[0].type
    if not _is_tensor(result):
        yield f"its result is a ranked tensor, not {result}"
        return
    dynamic = sum(result.is_dynamic_dim(i) for i in range(result.rank))
    given = len(op.operands) - 2
    if dynamic != given:
        yield f"{result} has {_count(dynamic, 'dynamic dimension')}, and {_count(given, 'size')} given"


def _kill(op: ir.Operation) -> Iterator[str]:
    yield from (wrong := list(_shape(op, operands=1, results=0)))
    if not wrong and not (_is_storage(op.operands[0].type) or _is_tensor(op.operands[0].type)):
        yield f"its operand is {STORAGE_TYPE} or a ranked tensor, not {op.operands[0].type}"


_RULES: dict[str, Callable[[ir.Operation], Iterator[str]]] = {
    "fissile.boundary": _boundary,
    "fissile.group": _group,
    "fissile.require": _require,
    "fissile.alloc_storage": _alloc_storage,
    "fissile.alloc_tensor": _alloc_tensor,
    "fissile.kill": _kill,
}


def _shape(op: ir.Operation, operands: int | None, results: int | None) -> Iterator[str]:
    if operands is not None and len(op.operands) != operands:
        yield f"it takes {_count(operands, 'operand')}, not {len(op.operands)}"
    if results is not None and len(op.results) != results:
        yield f"it has {_count(results, 'result')}, not {len(op.results)}"
    if op.successors:
        yield "it is no branch: it takes no successor"


def _inside(op: ir.Operation, name: str) -> bool:
    parent = op.parent
    while parent is not None and parent.name != name:
        parent = parent.operation.parent
    return parent is not None


def _is_tensor(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RankedTensorType)


def _is_index(type_: ir.Type) -> bool:
    return isinstance(type_, ir.IndexType)


def _is_storage(type_: ir.Type) -> bool:
    return str(type_) == STORAGE_TYPE


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"

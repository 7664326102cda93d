"""Does a function take or return tensors of an element type for which IREE's ABI has no name?"""

from __future__ import annotations

from math import prod

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding
from fissile.passes.analysis.bounds.value_names import name_of
from fissile.passes.iree import ops as iree_ops

WITHOUT_ABI_TYPE = {"f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6}
"""Element types and their bits that the HAL's buffer views cannot name (IREE 3.13, `hal.element_type`)."""
FUNCTIONS = ("func.func", iree_ops.UTIL_FUNC)


def check_abi_types(module: ir.Operation, refused: str, detail: str) -> list[Finding]:
    """FIS001 for each argument and result of a public function that IREE has no type for; ``refused`` is IREE's message."""
    found: list[Finding] = []
    for function in (op.operation for op in module.regions[0].blocks[0].operations):
        if (
            function.name not in FUNCTIONS
            or not function.regions[0].blocks
            or "private" in str(function.attributes.get("sym_visibility", ""))
        ):
            continue
        block = function.regions[0].blocks[0]
        values = [(name_of(argument), argument.type) for argument in block.arguments]
        returned = list(block.operations)[-1].operation.operands
        values += [(f"result {number}", value.type) for number, value in enumerate(returned)]
        name = ir.StringAttr(function.attributes["sym_name"]).value
        found += [
            _finding(function, name, what, kind, refused, detail)
            for what, kind in values
            if _element(kind) in WITHOUT_ABI_TYPE
        ]
    return found


def _element(kind: ir.Type) -> str:
    return str(kind.element_type) if isinstance(kind, ir.RankedTensorType) else str(kind)


def _finding(
    function: ir.Operation, name: str, what: str, kind: ir.Type, refused: str, detail: str
) -> Finding:
    place = place_of(function)
    element = _element(kind)
    bytes_ = "N"
    if isinstance(kind, ir.RankedTensorType) and kind.has_static_shape:
        bytes_ = str(-(-prod(kind.shape) * WITHOUT_ABI_TYPE[element] // 8))
    return Finding(
        "FIS001",
        f"@{name}: IREE has no ABI type for {element}, the element type of {what}",
        subject=f"@{name}",
        places=(place,) if place else (),
        stock=refused,
        detail=detail,
        notes=(
            f"pass its bytes, tensor<{bytes_}xi8>, and reinterpret them inside: flow.tensor.bitcast to {kind}",
        ),
    )

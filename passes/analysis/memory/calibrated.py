"""Is a dispatch of a structure for which prediction and code generation were compared, so that nobody need run the latter?

`python -m bench.check_verdicts` holds the outcome against stock IREE's: no dispatch that is calibrated in this sense may fail. Whatever is
not listed here is no such structure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree import version

from .tiles import ConfiguredDispatch, Op, Value


@dataclass(frozen=True)
class Compared:
    """What was compared for one code generator: ``pipelines`` of `#iree_codegen.translation_info` (3.13; None: all of them), and the
    element types of its tensors."""

    pipelines: frozenset[str] | None
    elements: frozenset[str]


_WORDS = frozenset(("f32", "i32"))
_NARROW = frozenset(("f16", "i8"))
# Not VectorDistribute: it fails to distribute some rows, of 768 and of 131072 elements.
_LLVMGPU = Compared(frozenset(("Distribute", "TileAndFuse")), _WORDS | _NARROW)
COMPARED = {
    "rocm": _LLVMGPU,
    "cuda": _LLVMGPU,
    "vulkan-spirv": Compared(frozenset(("BaseVectorize",)), _WORDS),
    "llvm-cpu": Compared(None, _WORDS | _NARROW),
}
_SCALARS = frozenset(("index", "i1"))
_OPS = re.compile(
    r"arith\.(constant|(add|sub|mul|div|maximum|minimum|cmp|neg|ext|trunc)f|(add|sub|mul|cmp|trunc|and|or)i"
    r"|(div|rem|max|min|ext|shr)si|extui|shli|[su]itofp|fptosi|select|index_castu?i?)"
    r"|math\.(exp|log|erf|sqrt|rsqrt|tanh|absf|floor|ceil|roundeven)"
    r"|linalg\.(fill|matmul|batch_matmul|matvec|vecmat|conv_2d_\w+|depthwise_conv_2d_\w+|pooling_\w+|generic|index|yield)"
    r"|tensor\.empty|util\.assume\.int|memref\.(subview|assume_alignment)|hal\.interface\.(constant\.load|binding\.subspan)|amdgpu\.fat_raw_buffer_cast|func\.(func|return)"
    r"|iree_tensor_ext\.dispatch\.tensor\.(load|store)|iree_codegen\.(load_from|store_to)_buffer"
)


def uncalibrated(dispatch: ConfiguredDispatch, inner: ir.Operation) -> str:
    """Why code has to be generated for ``dispatch``, whose builtin.module is ``inner``; empty where its structure is calibrated."""
    if unknown := version.doubt():
        return unknown
    compared = COMPARED.get(dispatch.backend)
    if compared is None or compared.pipelines is not None and dispatch.pipeline not in compared.pipelines:
        return f"the {dispatch.pipeline or 'unnamed'} pipeline for {dispatch.backend}"
    if dispatch.backend == "llvm-cpu" and not dispatch.pipeline:
        return "no pipeline"
    return _unlisted(inner, compared.elements) or _structure(dispatch)


def _structure(dispatch: ConfiguredDispatch) -> str:
    """One reduction at most, of what comes from memory, into a fill; then ops on its elements."""
    working = [op for op in dispatch.ops if not op.is_fill]
    if any(not op.understood or len(op.inits) != 1 for op in working):
        return "an op with several results, or without loops"
    if any(not isinstance(extent, int) for op in working for extent in op.loops):
        return "a dynamic size"
    roots = [op for op in working if op.reduces]
    if len(roots) > 1:
        return "several reductions"
    for op in working:
        if op.reduces:
            if any(value.maker is not None for value in op.inputs if not value.shape_only):
                return "a producer fused into a reduction"
            made = op.inits[0].maker
            if made is None or not dispatch.ops[made].is_fill or op.inits[0].reshaped:
                return "a reduction that does not start from a fill"
        elif not op.elementwise or any(not value.plain for value in op.inputs):
            return "an op that is not elementwise"
        elif roots and _has_window(roots[0]) and not all(_in_order(value) for value in _made_values(op)):
            return "a result of a window that is written in another order"
        elif any(_made_elsewhere(dispatch, roots, value.maker) for value in op.inputs):
            return "a producer fused beside the reduction"
    return ""


def _made_values(op: Op) -> list[Value]:
    """The values of the dispatch that ``op`` reads, and those that it writes."""
    return [*(value for value in op.inputs if value.maker is not None), *op.inits]


def _has_window(root: Op) -> bool:
    return any(not value.plain for value in root.inputs if not value.shape_only)


def _in_order(value: Value) -> bool:
    """Whether the loops go over the dimensions of ``value`` as these follow each other."""
    loops = [index.loop for index in value.index if index is not None and index.loop is not None]
    return loops == sorted(loops)


def _made_elsewhere(dispatch: ConfiguredDispatch, roots: list[Op], maker: int | None) -> bool:
    """Whether a value is made by an op that does not depend on the reduction, where there is one."""
    if maker is None or not roots or dispatch.ops[maker] is roots[0]:
        return False
    op = dispatch.ops[maker]
    return op.is_fill or all(value.maker is None for value in op.inputs)


def _unlisted(inner: ir.Operation, elements: frozenset[str]) -> str:
    """The first op below ``inner`` that is not listed, or that has a type beside ``elements`` and _SCALARS."""
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in ("builtin.module", iree_ops.CODEGEN_DISPATCH_CONFIG):
            return ir.WalkResult.ADVANCE if op.name == "builtin.module" else ir.WalkResult.SKIP
        if not _OPS.fullmatch(op.name):
            found.append(op.name)
        elif op.name.startswith("math.") and str(op.results[0].type) != "f32":
            found.append(f"{op.name} of {op.results[0].type}")  # a narrower one may be a library's
        elif types := [str(v.type) for v in op.results if not _is_listed(v.type, elements)]:
            found.append(f"{op.name} of {types[0]}")
        elif (
            op.name == "arith.constant"
            and isinstance(op.results[0].type, ir.RankedTensorType)
            and op.results[0].type.rank > 1
        ):
            found.append("a constant tensor")
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    inner.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[0] if found else ""


def _is_listed(type_: ir.Type, elements: frozenset[str]) -> bool:
    if isinstance(type_, (ir.RankedTensorType, ir.MemRefType)):
        return str(type_.element_type) in elements
    if re.match(r"!(iree_tensor_ext|flow)\.dispatch\.tensor<", text := str(type_)):
        element = re.search(r"(?:x|<tensor<)([a-z]+\d+)>", text)
        return element is not None and element[1] in elements
    return text in elements | _SCALARS

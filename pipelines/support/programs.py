"""The small programs of the support table: one op on one element type each, with inputs and what NumPy computes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fissile.passes.iree import ops as iree_ops

from .arithmetic import FLOAT_BINARY, FLOAT_UNARY, INTEGER_BINARY

FLOATS = ("f32", "f64", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f4E2M1FN")
INTEGERS = ("i32", "i64", "i16", "i8", "i4", "i1")
TYPES = (*FLOATS, *INTEGERS)
BITWISE = ("addi", "andi", "ori", "xori")
"""What is measured on i1 as well: the others have no use there, or no agreed sign."""


@dataclass(frozen=True)
class Program:
    """``op`` on tensors of ``element``: a function in MLIR whose name stands as ``@main``.

    ``shapes`` are its arguments'; ``reference`` names what computes its result in `arithmetic`, and is empty where nothing does.
    """

    op: str
    element: str
    text: str
    shapes: tuple[tuple[int, ...], ...] = ()
    reference: str = ""
    group: str = ""

    @property
    def key(self) -> str:
        return f"{self.op} {self.element}"

    @property
    def declares_opset(self) -> bool:
        """Whether it is an ONNX model. IREE rejects a module in which some functions are, and others are not."""
        return "torch.onnx_meta" in self.text


def builtin_programs() -> Iterator[Program]:
    """Ops of MLIR and IREE themselves, op by op."""
    for name in FLOAT_UNARY:
        for element in FLOATS:
            yield _elementwise("math", name, element, 1)
    for name in FLOAT_BINARY:
        for element in FLOATS:
            yield _elementwise("arith", name, element, 2)
    for name in INTEGER_BINARY:
        for element in INTEGERS:
            if element != "i1" or name in BITWISE:
                yield _elementwise("arith", name, element, 2)
    for element in TYPES:
        yield from _named(element)
    for element in FLOATS:
        yield from _extensions(element)


def _elementwise(dialect: str, name: str, element: str, operands: int) -> Program:
    """A linalg.generic over 64 elements."""
    type_ = f"tensor<64x{element}>"
    names = "ab"[:operands]
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * (operands + 1))
    op = f"{dialect}.{name}"
    text = (
        f"func.func @main({', '.join(f'%x{n}: {type_}' for n in names)}) -> {type_} {{\n"
        f"  %e = tensor.empty() : {type_}\n"
        f'  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}\n'
        f"    ins({', '.join(f'%x{n}' for n in names)} : {', '.join([type_] * operands)}) outs(%e : {type_}) {{\n"
        f"  ^bb0({', '.join(f'%{n}: {element}' for n in names)}, %o: {element}):\n"
        f"    %v = {op} {', '.join(f'%{n}' for n in names)} : {element}\n"
        f"    linalg.yield %v : {element}\n  }} -> {type_}\n  return %r : {type_}\n}}\n"
    )
    return Program(op, element, text, ((64,),) * operands, name, f"{dialect}: scalars")


def _named(element: str) -> Iterator[Program]:
    """The named ops of linalg, on any element type."""
    for name, left, right, result in (
        ("matmul", (8, 16), (16, 8), (8, 8)),
        ("batch_matmul", (2, 8, 16), (2, 16, 8), (2, 8, 8)),
        ("matvec", (8, 16), (16,), (8,)),
        ("dot", (16,), (16,), ()),
        ("conv_2d_nhwc_hwcf", (1, 6, 6, 4), (3, 3, 4, 8), (1, 4, 4, 8)),
        ("conv_2d_nchw_fchw", (1, 4, 6, 6), (8, 4, 3, 3), (1, 8, 4, 4)),
        ("depthwise_conv_2d_nhwc_hwc", (1, 6, 6, 4), (3, 3, 4), (1, 4, 4, 4)),
        ("pooling_nhwc_sum", (1, 6, 6, 4), (3, 3), (1, 4, 4, 4)),
    ):
        a, b, c = (_tensor(shape, element) for shape in (left, right, result))
        text = (
            f"func.func @main(%a: {a}, %b: {b}) -> {c} {{\n{_filled(c, element)}"
            f"  %r = linalg.{name} ins(%a, %b : {a}, {b}) outs(%f : {c}) -> {c}\n  return %r : {c}\n}}\n"
        )
        yield Program(f"linalg.{name}", element, text, (left, right), name, "linalg: named ops")
    a, c = _tensor((8, 32), element), _tensor((8,), element)
    add = "arith.addf" if element in FLOATS else "arith.addi"
    yield Program(
        "linalg.reduce (sum)",
        element,
        f"func.func @main(%a: {a}) -> {c} {{\n{_filled(c, element)}"
        f"  %r = linalg.reduce {{ {add} }} ins(%a : {a}) outs(%f : {c}) dimensions = [1]\n  return %r : {c}\n}}\n",
        ((8, 32),),
        "sum",
        "linalg: named ops",
    )
    c = _tensor((32, 8), element)
    yield Program(
        "linalg.transpose",
        element,
        f"func.func @main(%a: {a}) -> {c} {{\n  %e = tensor.empty() : {c}\n"
        f"  %r = linalg.transpose ins(%a : {a}) outs(%e : {c}) permutation = [1, 0]\n  return %r : {c}\n}}\n",
        ((8, 32),),
        "transpose",
        "linalg: named ops",
    )
    if element in FLOATS:
        yield Program(
            "linalg.softmax",
            element,
            f"func.func @main(%a: {a}) -> {a} {{\n  %e = tensor.empty() : {a}\n"
            f"  %r = linalg.softmax dimension(1) ins(%a : {a}) outs(%e : {a}) -> {a}\n  return %r : {a}\n}}\n",
            ((8, 32),),
            "softmax",
            "linalg: named ops",
        )


def _extensions(element: str) -> Iterator[Program]:
    """The ops of iree_linalg_ext that a model's ops become."""
    group = "iree_linalg_ext"
    a = _tensor((8, 32), element)
    yield Program(
        iree_ops.LINALG_EXT_SORT,
        element,
        f"func.func @main(%a: {a}) -> {a} {{\n"
        f"  %r = iree_linalg_ext.sort dimension(1) outs(%a : {a}) {{\n  ^bb0(%x: {element}, %y: {element}):\n"
        f"    %c = arith.cmpf olt, %x, %y : {element}\n    iree_linalg_ext.yield %c : i1\n  }} -> {a}\n  return %r : {a}\n}}\n",
        ((8, 32),),
        "sort",
        group,
    )
    yield Program(
        "iree_linalg_ext.scan (sum)",
        element,
        f"func.func @main(%a: {a}) -> {a} {{\n  %e = tensor.empty() : {a}\n{_filled(_tensor((8,), element), element, 'k')}"
        f"  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%a : {a}) outs(%e, %fk : {a}, {_tensor((8,), element)}) {{\n"
        f"  ^bb0(%x: {element}, %y: {element}):\n    %s = arith.addf %x, %y : {element}\n    iree_linalg_ext.yield %s : {element}\n"
        f"  }} -> {a}, {_tensor((8,), element)}\n  return %r#0 : {a}\n}}\n",
        ((8, 32),),
        "cumsum",
        group,
    )
    q = _tensor((2, 16, 32), element)
    yield Program(
        iree_ops.LINALG_EXT_ATTENTION,
        element,
        f"func.func @main(%q: {q}, %k: {q}, %v: {q}) -> {q} {{\n  %e = tensor.empty() : {q}\n"
        f"  %s = arith.constant 0.25 : {element}\n"
        "  %r = iree_linalg_ext.attention <{indexing_maps = [affine_map<(b, m, n, k, o) -> (b, m, k)>, "
        "affine_map<(b, m, n, k, o) -> (b, o, k)>, affine_map<(b, m, n, k, o) -> (b, o, n)>, affine_map<(b, m, n, k, o) -> ()>, "
        "affine_map<(b, m, n, k, o) -> (b, m, n)>]}>\n"
        f"    ins(%q, %k, %v, %s : {q}, {q}, {q}, {element}) outs(%e : {q}) {{\n  ^bb0(%x: f32):\n"
        f"    iree_linalg_ext.yield %x : f32\n  }} -> {q}\n  return %r : {q}\n}}\n",
        ((2, 16, 32),) * 3,
        "attention",
        group,
    )
    b = _tensor((4, 32), element)
    yield Program(
        iree_ops.LINALG_EXT_GATHER,
        element,
        f"func.func @main(%a: {a}, %i: tensor<4xi32>) -> {b} {{\n  %e = tensor.empty() : {b}\n"
        f"  %r = iree_linalg_ext.gather dimension_map = [0] ins(%a, %i : {a}, tensor<4xi32>) outs(%e : {b}) -> {b}\n"
        f"  return %r : {b}\n}}\n",
        group=group,
    )
    yield Program(
        iree_ops.LINALG_EXT_SCATTER,
        element,
        f"func.func @main(%u: {b}, %i: tensor<4x1xi32>, %a: {a}) -> {a} {{\n"
        f"  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %i : {b}, tensor<4x1xi32>) outs(%a : {a}) {{\n"
        f"  ^bb0(%x: {element}, %y: {element}):\n    iree_linalg_ext.yield %x : {element}\n  }} -> {a}\n  return %r : {a}\n}}\n",
        group=group,
    )


def _tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def _filled(type_: str, element: str, suffix: str = "") -> str:
    """%f, all zero."""
    zero = "0.0" if element in FLOATS else "false" if element == "i1" else "0"
    constant = f"arith.constant {zero}" + ("" if element == "i1" else f" : {element}")
    return (
        f"  %z{suffix} = {constant}\n  %i{suffix} = tensor.empty() : {type_}\n"
        f"  %f{suffix} = linalg.fill ins(%z{suffix} : {element}) outs(%i{suffix} : {type_}) -> {type_}\n"
    )

"""Operators of ONNX and PyTorch as programs of the support table: as the importers write them."""

from __future__ import annotations

from collections.abc import Iterator

from .programs import Program

ONNX_OPSET = 17
_FLOATS = ("f32", "f64", "f16", "bf16")
_INTEGERS = ("si32", "si64", "si8", "ui8")
_N, _M = "4,8", "8,4"

_ONNX_UNARY = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish Identity LeakyRelu Log "
    "LogSoftmax Mish Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Tan Tanh ThresholdedRelu"
).split()
_ONNX_BINARY = "Add Sub Mul Div Pow Max Min Mean Sum PRelu".split()
_ONNX_INTEGER_UNARY = "Abs Identity Neg Sign".split()
_ONNX_INTEGER_BINARY = "Add Sub Mul Div Max Min".split()

_TORCH_UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp exp2 expm1 floor frac log log10 log1p log2 neg reciprocal relu relu6 "
    "round rsqrt sigmoid sign silu sin sinh sqrt square tan tanh trunc"
).split()
_TORCH_BINARY = (
    "atan2 div.Tensor fmod.Tensor maximum minimum mul.Tensor pow.Tensor_Tensor remainder.Tensor".split()
)
_TORCH_INTEGER_UNARY = "abs bitwise_not neg sign".split()
_TORCH_INTEGER_BINARY = (
    "bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor bitwise_left_shift.Tensor maximum minimum mul.Tensor"
).split()


def onnx_programs() -> Iterator[Program]:
    """ONNX operators of one result, without attributes or with defaults."""
    for name in _ONNX_UNARY:
        for element in (*_FLOATS, *(_INTEGERS if name in _ONNX_INTEGER_UNARY else ())):
            yield _onnx(name, element, (_N,), _N)
    for name in _ONNX_BINARY:
        for element in (*_FLOATS, *(_INTEGERS if name in _ONNX_INTEGER_BINARY else ())):
            yield _onnx(name, element, (_N, _N), _N)
    for element in (*_FLOATS, *_INTEGERS):
        yield _onnx("MatMul", element, (_N, _M), "4,4")
        yield _onnx("Transpose", element, (_N,), _M)
        yield _onnx("ReduceSum", element, (_N,), "1,1")
        yield _onnx("ArgMax", element, (_N,), "1,8", "si64")
    for element in _FLOATS:
        yield _onnx("Conv", element, ("1,4,6,6", "8,4,3,3"), "1,8,4,4")
        yield _onnx("MaxPool", element, ("1,4,6,6",), "1,4,5,5", given=("kernel_shape = [2, 2]",))
        yield _onnx("AveragePool", element, ("1,4,6,6",), "1,4,5,5", given=("kernel_shape = [2, 2]",))
        yield _onnx("GlobalAveragePool", element, ("1,4,6,6",), "1,4,1,1")
        yield _onnx("LayerNormalization", element, (_N, "8", "8"), _N)
        yield _onnx("InstanceNormalization", element, ("1,4,6,6", "4", "4"), "1,4,6,6")


def _onnx(
    name: str,
    element: str,
    arguments: tuple[str, ...],
    result: str,
    made: str = "",
    given: tuple[str, ...] = (),
) -> Program:
    types = [f"!torch.vtensor<[{shape}],{element}>" for shape in arguments]
    out = f"!torch.vtensor<[{result}],{made or element}>"
    attributes = ", ".join(f"torch.onnx.{one.replace('[2, 2]', '[2 : si64, 2 : si64]')}" for one in given)
    text = (
        f"func.func @main({', '.join(f'%a{i}: {type_}' for i, type_ in enumerate(types))}) -> {out} "
        f"attributes {{torch.onnx_meta.opset_version = {ONNX_OPSET} : si64}} {{\n"
        f'  %r = torch.operator "onnx.{name}"({", ".join(f"%a{i}" for i in range(len(types)))})'
        f"{f' {{{attributes}}}' if attributes else ''} : ({', '.join(types)}) -> {out}\n  return %r : {out}\n}}\n"
    )
    return Program(f"onnx.{name}", element, text, group="ONNX operators")


def torch_programs() -> Iterator[Program]:
    """PyTorch operators of tensors alone, and of numbers with their usual values."""
    for name in _TORCH_UNARY:
        for element in _FLOATS:
            yield _torch(name, element, (_N,), _N)
    for name in _TORCH_BINARY:
        for element in _FLOATS:
            yield _torch(name, element, (_N, _N), _N)
    for name in _TORCH_INTEGER_UNARY:
        for element in _INTEGERS:
            yield _torch(name, element, (_N,), _N)
    for name in _TORCH_INTEGER_BINARY:
        for element in _INTEGERS:
            yield _torch(name, element, (_N, _N), _N)
    for element in (*_FLOATS, *_INTEGERS):
        yield _torch("mm", element, (_N, _M), "4,4")
        yield _torch("bmm", element, ("2,4,8", "2,8,4"), "2,4,4")
    one, zero, no = (
        ("%c = torch.constant.int 1", "!torch.int"),
        ("%z = torch.constant.int 0", "!torch.int"),
        (
            "%n = torch.constant.none",
            "!torch.none",
        ),
    )
    for element in (*_FLOATS, *_INTEGERS):
        yield _torch("add.Tensor", element, (_N, _N), _N, (one,))
        yield _torch("sub.Tensor", element, (_N, _N), _N, (one,))
        yield _torch("cumsum", element, (_N,), _N, (one, no))
        yield _torch("transpose.int", element, (_N,), _M, (zero, one))
    for element in _FLOATS:
        yield _torch("softmax.int", element, (_N,), _N, (one, no))


def _torch(
    name: str,
    element: str,
    arguments: tuple[str, ...],
    result: str,
    constants: tuple[tuple[str, str], ...] = (),
) -> Program:
    types = [f"!torch.vtensor<[{shape}],{element}>" for shape in arguments]
    out = f"!torch.vtensor<[{result}],{element}>"
    operands = [f"%a{i}" for i in range(len(types))] + [line.partition(" ")[0] for line, _type in constants]
    all_types = [*types, *(type_ for _line, type_ in constants)]
    text = (
        f"func.func @main({', '.join(f'%a{i}: {type_}' for i, type_ in enumerate(types))}) -> {out} {{\n"
        + "".join(f"  {line}\n" for line, _type in constants)
        + f"  %r = torch.aten.{name} {', '.join(operands)} : {', '.join(all_types)} -> {out}\n  return %r : {out}\n}}\n"
    )
    return Program(f"torch.aten.{name}", element, text, group="PyTorch operators")

"""Reshapes of tensors with several unknown sizes, of which IREE's import assumes one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.dialect.attributes import attribute, text_of
from fissile.dialect.places import ops_of
from fissile.passes.iree.pipelines import ONNX_INPUT, TORCH_INPUT

from .onnx_values import OPERATOR, integers_of, sizes_of

VIEWS = ("aten.view", "aten.reshape", "aten._unsafe_view", "onnx.Reshape")
_ONNX = "onnx."
_SIZE, _INTEGER, _LIST = "torch.aten.size.int", "torch.constant.int", "torch.prim.ListConstruct"
_ARITHMETIC = ("torch.aten.mul.int", "torch.aten.add.int", "torch.aten.sub.int", "torch.aten.floordiv.int")
_INT = "!torch.int"
_CAST = "tensor.cast"
_STRICT = "torch.assume_strict_symbolic_shapes"
"""What iree-turbine writes on every function: without it the import may check at run time what it assumes."""


@dataclass(frozen=True)
class Assumption:
    """What IREE's import makes of a reshape: the sizes of a tensor, and what it takes them to be; ``rejected`` where it makes nothing of it."""

    sizes: str = ""
    taken_as: str = ""
    rejected: bool = False


_ANSWERS: dict[str, Assumption | None] = {}
"""What IREE makes of each program of one op: the layers of a model have the same reshapes. An answer takes it 3 ms."""
_MOST_ANSWERS = 1024


def assumption_of(op: ir.Operation) -> Assumption | None:
    """What IREE assumes of the reshape ``op``; None for another op, and where it assumes nothing.

    The import (3.13) pairs the dimensions of the operand with those of the result from the left. Where two dimensions of unknown size become
    one, and known ones behind them become another one, it pairs the first two, and what is left over must then be 1:
    [?,?,4,8] -> [?,32] is read as [?,1,4,8] -> [?,32]. Which reshapes these are is IREE's answer: the op is imported alone.
    """
    name = view_name(op)
    if name is None:
        return None
    sizes = sizes_of(op.operands[0])
    if sizes is None or sizes.count(None) < 2:  # one unknown size follows from the others
        return None
    text = _alone(op, name)
    if text is None:
        return None
    if text not in _ANSWERS:
        if len(_ANSWERS) == _MOST_ANSWERS:
            _ANSWERS.clear()
        _ANSWERS[text] = _imported(text, ONNX_INPUT if name.startswith(_ONNX) else TORCH_INPUT, op.context)
    return _ANSWERS[text]


def _imported(text: str, pipeline: str, context: ir.Context) -> Assumption | None:
    try:
        module = ir.Module.parse(text, context)
        PassManager.parse(pipeline, context).run(module.operation)
    except ir.MLIRError:
        return Assumption(rejected=True)
    for cast in ops_of(module.operation, _CAST):
        given, made = (_sizes(value.type) for value in (cast.operands[0], cast.results[0]))
        if made.count("?") < given.count("?"):
            return Assumption(given, made)
    return None


def view_name(op: ir.Operation) -> str | None:
    """What the front end calls the reshape ``op``; None for another op."""
    name = text_of(op, "name") if op.name == OPERATOR and "name" in op.attributes else op.name
    name = name.removeprefix("torch.")
    return name if name in VIEWS and len(op.operands) == 2 else None


def _alone(op: ir.Operation, name: str) -> str | None:
    """A program of ``op``, whose sizes are constants, sizes of its operand, or arguments; None where they are not a list."""
    given, made = op.operands[0].type, op.results[0].type
    if name.startswith(_ONNX):
        shape = integers_of(op.operands[1])
        if shape is None or 0 in shape and attribute(op, "torch.onnx.allowzero"):
            return None
        listed = op.operands[1].type
        width = str(listed).rpartition(",")[2].rstrip(">")
        return f"""
func.func @alone(%x: {given}) -> {made} attributes {{torch.onnx_meta.opset_version = 17 : si64}} {{
  %l = torch.operator "onnx.Constant"() {{torch.onnx.value = dense<{shape}> : tensor<{len(shape)}x{width}>}} : () -> {listed}
  %r = torch.operator "onnx.Reshape"(%x, %l) : ({given}, {listed}) -> {made}
  return %r : {made}
}}"""
    owner = op.operands[1].owner
    if isinstance(owner, ir.Block) or owner.name != _LIST:
        return None
    sizes = _Sizes(op.operands[0])
    names = [sizes.name_of(size) for size in owner.operands]
    made = known_result(op)
    body = "\n  ".join(sizes.lines)
    return f"""
func.func @alone(%x: {given}{"".join(sizes.arguments)}) -> {made} attributes {{{_STRICT}}} {{
  {body}
  %l = {_LIST} {", ".join(names)} : ({", ".join([_INT] * len(names))}) -> !torch.list<int>
  %r = torch.{name} %x, %l : {given}, !torch.list<int> -> {made}
  return %r : {made}
}}"""


def known_result(op: ir.Operation) -> str:
    """The type of the result of a reshape of PyTorch's, with the sizes that its list has as constants: an exporter may leave them out."""
    made, listed = str(op.results[0].type), op.operands[1].owner
    sizes = sizes_of(op.results[0])
    if sizes is None or isinstance(listed, ir.Block) or len(listed.operands) != len(sizes):
        return made
    constants = [constant_size(size) for size in listed.operands]
    known = [
        constant if size is None and constant is not None and constant >= 0 else size
        for size, constant in zip(sizes, constants, strict=True)
    ]
    text = ",".join("?" if size is None else str(size) for size in known)
    return re.sub(r"\[[\d,?]*\]", f"[{text}]", made, count=1)


def constant_size(size: ir.Value) -> int | None:
    """The number that ``size`` is, if it is a constant."""
    op = size.owner
    if isinstance(op, ir.Block) or op.name != _INTEGER:
        return None
    return ir.IntegerAttr(op.attributes["value"]).value


class _Sizes:
    """``lines`` that compute sizes of the call as the program does, and ``arguments`` for what they do not compute."""

    def __init__(self, operand: ir.Value) -> None:
        self._operand = operand
        self._names: dict[ir.Value, str] = {}
        self.lines: list[str] = []
        self.arguments: list[str] = []

    def name_of(self, size: ir.Value) -> str:
        if size not in self._names:
            text = self._text_of(size)
            name = self._names[size] = f"%n{len(self._names)}"
            if text:
                self.lines.append(f"{name} = {text}")
            else:
                self.arguments.append(f", {name}: {_INT}")
        return self._names[size]

    def _text_of(self, size: ir.Value) -> str:
        """The op that computes ``size``; empty for an argument."""
        op = size.owner
        if isinstance(op, ir.Block):
            return ""
        if (constant := constant_size(size)) is not None:
            return _constant(constant)
        if op.name in _ARITHMETIC:
            names = ", ".join(self.name_of(one) for one in op.operands)
            return f"{op.name} {names} : {', '.join([_INT] * len(op.operands))} -> {_INT}"
        if op.name != _SIZE:
            return ""
        known, number = sizes_of(op.operands[0]), constant_size(op.operands[1])
        if known is None or number is None or not -len(known) <= number < len(known):
            return ""
        if (size_known := known[number]) is not None:
            return _constant(size_known)
        if op.operands[0] != self._operand:
            return ""
        return f"{_SIZE} %x, {self.name_of(op.operands[1])} : {self._operand.type}, {_INT} -> {_INT}"


def _constant(value: int) -> str:
    return f"{_INTEGER} {value}"


def _sizes(type_: ir.Type) -> str:
    """`?x4` of tensor<?x4xf32>."""
    found = re.match(r"tensor<((?:[\d?]+x)*)", str(type_))
    return found[1].rstrip("x") if found else ""

"""The dispatch view: what IREE formed from a module, one record per dispatch and target variant.

Valid on a module at phase executable-sources or executable-configurations.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.dialect.budgets import budget_in
from fissile.dialect.operands import operand
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.attributes import TargetFacts, read_target, translation_of

from .provenance import place_of, tags_in, tags_of

BINDING_ALIGNMENT = 64
"""Bytes; IREE places tensors in their allocations at multiples of it, and tells code generation so."""

_INDEX_CONSTANT = re.compile(r"^ *(%\w+) = arith\.constant (-?\d+) : index$\n?", re.MULTILINE)


@dataclass(frozen=True)
class Binding:
    """One buffer that a dispatch reads or writes: its element type and whether it is only read."""

    type: str
    element: str
    element_bits: int
    readonly: bool
    tags: tuple[int, ...]
    place: Place | None
    number: int = 0
    """Which of the dispatch's bindings it is in: several tensors may share one, from different offsets."""
    offset: int | None = None
    """Bytes from where that binding begins; None where it is dynamic."""


@dataclass(frozen=True)
class Dispatch:
    """One dispatch function for one target. ``executable`` and ``inner`` are live ops of the module."""

    name: str
    target: TargetFacts
    codegen: str
    """IREE's code generation pipeline (`TileAndFuse`, …), empty before configuration."""
    tags: tuple[int, ...]
    """Source ops in this dispatch, in program order of the dispatch."""
    root: int | None
    """The source op that the dispatch is named after: its location is the function's."""
    place: Place | None
    bindings: tuple[Binding, ...]
    fingerprint: str
    """Equal for dispatches with the same body and target, whatever their names and locations, and wherever their buffers
    begin in a larger allocation."""
    executable: ir.Operation = field(repr=False, compare=False)
    variant: str = ""
    budget: int | None = None
    """On-chip bytes that the program allows it (`fissile.budget`); None where it states none."""

    @property
    def identity(self) -> tuple:
        """Equal for dispatches with the same body, target and source ops: a finding for one names the other's places."""
        return self.fingerprint, self.variant, self.root, self.tags

    def inner_module(self, executable: ir.Operation | None = None) -> ir.Operation:
        """The builtin.module with the function, in ``executable`` (a clone) or in the module itself."""
        for variant in _body(executable or self.executable):
            if variant.name == iree_ops.HAL_EXECUTABLE_VARIANT and _symbol(variant) == self.variant:
                for op in _body(variant):
                    if op.name == "builtin.module":
                        return op
        raise LookupError(f"{self.name} has no variant {self.variant}")


def dispatches(module: ir.Operation) -> list[Dispatch]:
    """Every dispatch of ``module`` in program order; a program for two targets gives two records each."""
    found: list[Dispatch] = []
    for executable in _body(module):
        if executable.name == iree_ops.HAL_EXECUTABLE:
            found.extend(dispatches_of(executable))
    return found


def dispatches_of(executable: ir.Operation) -> list[Dispatch]:
    """Every dispatch of one hal.executable, by variant."""
    found: list[Dispatch] = []
    for variant in _body(executable):
        if variant.name != iree_ops.HAL_EXECUTABLE_VARIANT:
            continue
        target = read_target(variant.attributes["target"])
        for inner in _body(variant):
            if inner.name != "builtin.module":
                continue
            for function in _body(inner):
                if function.name == "func.func" and function.regions[0].blocks:
                    found.append(_dispatch(executable, _symbol(variant), target, function))
    return found


def _dispatch(
    executable: ir.Operation, variant: str, target: TargetFacts, function: ir.Operation
) -> Dispatch:
    tags: dict[int, None] = {}
    bindings: list[Binding] = []
    budgets: list[int] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == iree_ops.HAL_INTERFACE_BINDING_SUBSPAN:
            bindings.append(_binding(op))
        elif op.name != "tensor.empty" and not _is_parameter(
            op, function
        ):  # ops in a body count: a producer may be fused into it
            text = str(op.location)
            tags.update(dict.fromkeys(tags_in(text)))
            if (stated := budget_in(text)) is not None:
                budgets.append(stated)
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    roots = tags_in(str(function.location))
    name = _symbol(function)
    body = without_offsets(function.get_asm(enable_debug_info=False, use_local_scope=True).replace(name, "@"))
    return Dispatch(
        name=name,
        target=target,
        codegen=translation_of(function).pipeline,
        tags=tuple(tags),
        root=roots[0] if roots else None,
        place=place_of(function),
        bindings=tuple(bindings),
        fingerprint=hashlib.sha256((target.text + body).encode()).hexdigest()[:16],
        executable=executable,
        variant=variant,
        budget=min(budgets, default=None),
    )


def _is_parameter(op: ir.Operation, function: ir.Operation) -> bool:
    """Whether ``op`` only reads or computes sizes and offsets of ``function``.

    Where two calls of a dispatch differ in the offsets of their buffers, IREE passes these as parameters, whose locations are those
    of what the calls are given: of the producers' ops.
    """
    if op.parent is None or op.parent.operation != function or op.regions:
        return False
    return not any(isinstance(value.type, ir.ShapedType) for value in (*op.operands, *op.results))


def without_offsets(body: str) -> str:
    """A function's text with constant indices in their uses' places, and of a binding's byte offset only what code depends on.

    A boundary anywhere in a program moves tensors in the allocation that they share, and with them the offsets of dispatches
    that it has nothing to do with.
    """
    constants: dict[str, str] = {}
    for name, value in _INDEX_CONSTANT.findall(body):
        if constants.setdefault(name, value) != value:
            return body  # one name for two values, in two scopes

    def offset(match: re.Match) -> str:
        value = constants.get(match[1])
        return (
            match[0]
            if value is None
            else f" offset({int(value) % BINDING_ALIGNMENT}{' far' if int(value) >> 31 else ''})"
        )

    body = re.sub(r" offset\((%[\w]+)\)", offset, _INDEX_CONSTANT.sub("", body))
    return re.sub(r"%\w+", lambda match: constants.get(match[0], match[0]), body)


def _binding(op: ir.Operation) -> Binding:
    """Sub-byte and boolean elements are already widened to what is stored at this phase."""
    text = str(op.results[0].type)
    element = re.search(r"(?:x|<)((?:[su]?i|b?f|tf|index)\d*\w*)(?=[,>])", text)
    name = element.group(1) if element else ""
    digits = re.search(r"\d+", name)
    readonly = "readonly" in text or any(
        "ReadOnly" in str(op.attributes[name]) for name in op.attributes if name != "layout"
    )
    return Binding(
        text,
        name,
        int(digits.group()) if digits else 64,
        readonly,
        tags_of(op),
        place_of(op),
        ir.IntegerAttr(op.attributes["binding"]).value,
        constant_of(operand(op, "byte_offset")),
    )


def constant_of(value: ir.Value | None) -> int | None:
    """The value of a constant integer, 0 where there is no operand; None where it is computed."""
    if value is None:
        return 0
    made = value.owner
    if isinstance(made, ir.Block) or made.name != "arith.constant":
        return None
    return ir.IntegerAttr(made.attributes["value"]).value


def _body(op: ir.Operation) -> list[ir.Operation]:
    if not op.regions or not op.regions[0].blocks:
        return []
    return [child.operation for child in op.regions[0].blocks[0].operations]


def _symbol(op: ir.Operation) -> str:
    return text_of(op, "sym_name")

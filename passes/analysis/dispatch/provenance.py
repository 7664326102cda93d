"""Where an op came from: source places and source-op tags, read from its location.

A tag is a location `callsite("fz":INDEX:1 at …)` that fissile wraps around an op before dispatch creation.
IREE carries locations through cloning, outlining and code generation, so whatever a dispatch
contains later can be traced to the exact op, without parsing any name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.places import NO_PLACES, READ_TAG_FILE, TAG_FILE, place_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..layout.transposed_operands import transpositions_read
from ..program.source_lines import line_at
from .given_configuration import given_configuration

__all__ = [
    "TAG_FILE",
    "SourceOp",
    "describe_source_ops",
    "is_source_op",
    "place_of",
    "places_in",
    "source_ops",
    "ssa_name",
    "tag_source_ops",
    "tags_in",
    "tags_read",
    "tags_of",
    "untag",
    "without_tags",
]

_PLACE = re.compile(r'(?:"([^"]+)"|(?:^|(?<=\s))([^\s":]+)):(\d+):(\d+)')

_WRAPPED = re.compile(rf'callsite\("(?:{TAG_FILE}|{READ_TAG_FILE})":\d+:1 at ')
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*"|[()]')
"""What a search for the end of a location meets: whole strings, so that parentheses in file names do not count."""


def tags_in(text: str) -> tuple[int, ...]:
    """The source-op tags in a location's or diagnostic's text, in order, each once."""
    return tuple(dict.fromkeys(int(index) for index in re.findall(rf'"?{TAG_FILE}"?:(\d+):1\b', text)))


def tags_read(op: ir.Operation) -> tuple[int, ...]:
    """The tags of the transpositions that ``op``, a convolution, read as it was tagged (`transpositions_read`)."""
    found = re.findall(rf'"{READ_TAG_FILE}":(\d+):1\b', str(op.location))
    return tuple(dict.fromkeys(int(index) for index in found))


def places_in(text: str) -> tuple[Place, ...]:
    """The source places in a location's text, innermost first; tags are no places."""
    found = []
    for quoted, plain, line, column in _PLACE.findall(text):
        file = quoted or plain
        if file and file not in NO_PLACES:
            found.append(Place(file, int(line), int(column)))
    return tuple(dict.fromkeys(found))


def tags_of(op: ir.Operation) -> tuple[int, ...]:
    return tags_in(str(op.location))


def is_source_op(op: ir.Operation) -> bool:
    """True for the ops whose results dispatch creation fuses: structured ops on tensors, and their like."""
    if op.name.startswith(("linalg.", iree_ops.LINALG_EXT_OPS)) and op.parent is not None:
        return op.name not in ("linalg.yield", "linalg.index", iree_ops.LINALG_EXT_YIELD) and bool(op.results)
    return False


def source_ops(module: ir.Operation) -> list[ir.Operation]:
    """All source ops of ``module`` in program order; an op's position is its index, and so its tag.

    The order depends only on the program, so an index found on a tagged clone names the same op of the original.
    """
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if is_source_op(op):
            found.append(op)
            return ir.WalkResult.SKIP  # ops in its body belong to it
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def tag_source_ops(module: ir.Operation) -> int:
    """Wraps a tag around the location of every source op, its body, and the empty tensors it initialises.

    Changes locations only. Returns the number of source ops. An empty tensor that several ops use takes the tag
    of the first. Meant for a clone: tags would reach the artifact's debug info.
    """
    ops = source_ops(module)
    indices = {op: index for index, op in enumerate(ops)}  # before a location changes: it is part of the hash
    read = [[indices[one] for one in transpositions_read(op) if one in indices] for op in ops]
    tagged_inits: set[int] = set()
    for index, op in enumerate(ops):

        def wrap(inner: ir.Operation, index: int = index) -> ir.WalkResult:
            _wrap(inner, TAG_FILE, index)
            return ir.WalkResult.ADVANCE

        op.walk(wrap)
        for transposition in read[index]:
            _wrap(op, READ_TAG_FILE, transposition)
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, ir.Block):
                continue
            owner = owner.operation
            if owner.name == "tensor.empty" and hash(owner) not in tagged_inits:
                tagged_inits.add(hash(owner))
                wrap(owner)
    return len(ops)


def _wrap(op: ir.Operation, file: str, index: int) -> None:
    tag = ir.Location.file(file, index, 1, context=op.context)
    op.location = ir.Location.callsite(tag, [op.location], context=op.context)


def untag(module: ir.Operation) -> None:
    """Takes the tags off again, wherever IREE has carried them: each location is what it would be without them."""
    tagged: dict[str, list[ir.Operation | ir.BlockArgument]] = {}

    def collect(op: ir.Operation) -> ir.WalkResult:
        for located in (
            op,
            *(argument for region in op.regions for block in region for argument in block.arguments),
        ):
            text = str(located.location)
            if TAG_FILE in text:
                tagged.setdefault(text, []).append(located)
        return ir.WalkResult.ADVANCE

    module.walk(collect)
    # The bindings of IREE 3.13 parse no location by itself (Attribute.parse takes one for a call site): so at empty ops.
    holders = "".join(f"module {{}} {without_tags(text)}\n" for text in tagged)
    parsed = ir.Module.parse(f"module {{\n{holders}}}\n", module.context)
    for those, holder in zip(tagged.values(), parsed.body.operations, strict=True):
        for located in those:
            if isinstance(located, ir.BlockArgument):
                located.set_location(holder.operation.location)
            else:
                located.location = holder.operation.location


def without_tags(text: str) -> str:
    """A location's text with each `callsite("fz":INDEX:1 at INNER)` replaced by its INNER."""
    while wrapped := _WRAPPED.search(text):
        depth = 1
        for token in _NESTING.finditer(text, wrapped.end()):
            depth += {"(": 1, ")": -1}.get(token.group(), 0)
            if depth == 0:
                text = text[: wrapped.start()] + text[wrapped.end() : token.start()] + text[token.end() :]
                break
        else:
            raise ValueError(f"a location without an end: {text}")
    return text


@dataclass(frozen=True)
class SourceOp:
    """One source op in words. ``type`` is its first result's (`64x58x58xf32`), ``name`` its SSA name (`%xd`) where the input has one, or
    else the front end's name of its place (`model.layers.0.attn`, the node of an ONNX model); empty where neither is known."""

    index: int
    op: str
    type: str
    name: str
    place: Place | None
    configuration: str = ""
    """What the lowering configuration is for that the program gives the op; empty where it gives none."""

    def __str__(self) -> str:
        return f"{self.name or self.op} {self.type}"


def describe_source_ops(module: ir.Operation) -> list[SourceOp]:
    """The source ops of ``module``, by index."""
    described = []
    for index, op in enumerate(source_ops(module)):
        place = place_of(op)
        shown_type = re.sub(r"^(?:tensor|memref|vector)<(.*)>$", r"\1", str(op.results[0].type))
        name = ssa_name(place) or (place.name if place is not None else "")
        described.append(
            SourceOp(index, op.name, shown_type.split(",")[0], name, place, given_configuration(op))
        )
    return described


def ssa_name(place: Place | None) -> str:
    """The name that the source line at ``place`` gives its first result (`%xd`), empty where it cannot be read."""
    if place is None:
        return ""
    match = re.match(r"\s*(%[\w$.-]+)(?::\d+)?\s*(?:=|,)", line_at(place))
    return match.group(1) if match else ""

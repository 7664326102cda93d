"""The commands that IREE submits to a device, at phase stream, and the bytes that each reads and writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.dialect.attributes import text_of
from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from ..dispatch.dispatches import constant_of
from ..host.on_host import ops_on_host
from ..storage.memory_rules import bytes_of_tensor

_POSITION = "fissile-position"
_GROUPS = (iree_ops.STREAM_CMD_CONCURRENT, iree_ops.STREAM_CMD_EXECUTE, iree_ops.STREAM_CMD_SERIAL)
_TENSOR = re.compile(r"<(readonly|writeonly|readwrite):(tensor<.*>)>$")


def locate_positions(module: ir.Operation) -> None:
    """Gives each op on the host its position as location; for a clone."""
    for i, op in enumerate(ops_on_host(module)):
        op.location = ir.Location.file(_POSITION, i, 1, context=op.context)


@dataclass(frozen=True)
class Access:
    """The bytes of ``resource`` from ``start`` up to ``end``; None where that is known at run time only. ``writes``: unless they are only read."""

    resource: ir.Value
    start: int | None = None
    end: int | None = None
    writes: bool = True

    @property
    def is_known(self) -> bool:
        return self.start is not None and self.end is not None

    def overlaps(self, other: Access) -> bool:
        if self.resource != other.resource:
            return False
        return _begins_before_end(self, other) and _begins_before_end(other, self)


def _begins_before_end(one: Access, other: Access) -> bool:
    return one.start is None or other.end is None or one.start < other.end


@dataclass(frozen=True)
class Command:
    """``accesses`` of a copy: what it reads, and what it writes; ``length``: its bytes, where they are known."""

    order: int
    group: int
    copies: bool
    accesses: tuple[Access, ...]
    length: int | None = None

    def changes(self, other: Command) -> bool:
        """Whether this one writes bytes that ``other`` accesses, as far as is known."""
        written = self.accesses[1:] if self.copies else self.accesses
        return any(one.overlaps(another) for one in written if one.writes for another in other.accesses)

    def meets(self, other: Command) -> bool:
        """Whether both access the same bytes: resources alone do not say so, since IREE puts tensors beside each other into one."""
        return any(one.overlaps(another) for one in self.accesses for another in other.accesses)


def commands_of(module: ir.Operation) -> dict[int, list[Command]]:
    """The commands that IREE submits, and the buffers that it is given, by the position of the op that they come from."""
    found: dict[int, list[Command]] = {}
    functions = _functions(module)
    count = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal count
        is_command = op.name.startswith(iree_ops.STREAM_CMD_OPS) and op.name not in _GROUPS
        if is_command or op.name == iree_ops.STREAM_TENSOR_IMPORT:
            count += 1
            if position := re.search(rf'"{_POSITION}":(\d+):1', str(op.location)):
                concurrent = op.parent.operation.name == iree_ops.STREAM_CMD_CONCURRENT
                group = hash(op.parent.operation) if concurrent else hash(op)
                copies = op.name == iree_ops.STREAM_CMD_COPY
                length = constant_of(view_of(op).length) if copies else None
                command = Command(count, group, copies, _accesses(op, functions), length)
                found.setdefault(int(position[1]), []).append(command)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _accesses(op: ir.Operation, functions: dict[str, ir.Operation]) -> tuple[Access, ...]:
    """What ``op`` accesses; a resource that is passed into an execution is the one outside."""
    if op.name == iree_ops.STREAM_TENSOR_IMPORT:
        return (Access(op.results[0]),)
    if op.name == iree_ops.STREAM_CMD_DISPATCH:
        return tuple(_of_dispatch(op, functions))
    if op.name != iree_ops.STREAM_CMD_COPY:
        return tuple(Access(_outside(value)) for value in op.operands)
    copy = view_of(op)
    length = constant_of(copy.length)
    sides = ((copy.source, copy.source_offset), (copy.target, copy.target_offset))
    return tuple(_range(_outside(resource), constant_of(offset), length) for resource, offset in sides)


def _functions(module: ir.Operation) -> dict[str, ir.Operation]:
    """The functions that dispatches of ``module`` run, by the symbols of the executable and its export."""
    found = {}
    for executable in module.regions[0].blocks[0]:
        if executable.operation.name == iree_ops.STREAM_EXECUTABLE:
            name = text_of(executable.operation, "sym_name")
            for function in ops_of(executable.operation, "func.func"):
                found[f"@{name}::@{text_of(function, 'sym_name')}"] = function
    return found


def _of_dispatch(op: ir.Operation, functions: dict[str, ir.Operation]) -> Iterator[Access]:
    """What a dispatch accesses of its resources: the code says which bytes, where they do not depend on its operands."""
    view = view_of(op)
    points = [str(one).replace('"', "") for one in ir.ArrayAttr(op.attributes["entry_points"])]
    function = functions.get(points[0]) if len(points) == 1 else None
    arguments = list(function.regions[0].blocks[0].arguments) if function is not None else []
    bindings = [one for one in arguments if str(one.type) == iree_ops.STREAM_BINDING]
    for number, (resource, offset) in enumerate(zip(view.resources, view.resource_offsets, strict=True)):
        spans = [use.owner.operation for use in bindings[number].uses] if number < len(bindings) else []
        begin = constant_of(offset)
        if not spans or begin is None or any(one.name != iree_ops.STREAM_BINDING_SUBSPAN for one in spans):
            yield Access(_outside(resource))
            continue
        for span in spans:
            at, held = constant_of(span.operands[1]), _TENSOR.search(str(span.results[0].type))
            start = None if at is None else begin + at
            length = bytes_of_tensor(ir.Type.parse(held[2], op.context)) if held else None
            reads = held is not None and held[1] == "readonly"
            yield replace(_range(_outside(resource), start, length), writes=not reads)


def _range(resource: ir.Value, start: int | None, length: int | None) -> Access:
    return Access(resource, start, None if start is None or length is None else start + length)


def _outside(value: ir.Value) -> ir.Value:
    if isinstance(value.owner, ir.Block) and (parent := value.owner.owner) is not None:
        execute = parent.operation
        if execute.name == iree_ops.STREAM_CMD_EXECUTE:
            return list(view_of(execute).resource_operands)[ir.BlockArgument(value).arg_number]
    return value

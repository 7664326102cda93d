"""Reads of a tensor that IREE schedules behind the op that updates the tensor in place.

Two modules are compared: one whose dispatches are formed (phase flow), where the order of ops says who reads the old elements, and the
same one as it is scheduled (phase stream). Each op's position is its location in between.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of
from ..host.in_place import same_buffer, updated_in_place
from ..host.moved_slices import copied_inside
from ..host.on_host import HOST_REGIONS, ops_on_host
from ..host.stale_tensors import stale_tensors
from ..order.commands import Access, Command, commands_of
from ..order.dependences import awaited_by
from ..order.donated_storage import DonatedStorage
from ..storage.memory_rules import bytes_of_tensor
from .private_calls import function_of
from .remade_tensors import Remade, wrongly_remade

_NO_READS = (iree_ops.UTIL_RETURN, iree_ops.UTIL_OPTIMIZATION_BARRIER)


@dataclass(frozen=True)
class Read:
    """The op at position ``reader`` of ``function`` reads a tensor that the op at ``update``, behind it, overwrites.

    ``copied``: the reader updates the tensor as well, a copy of it. ``update_is_copy``: the update itself is a copy of bytes.
    ``is_reshape``: the reader is a reshape, which is no op of the program and has no ``read_at``. ``is_moved``: the update writes what the
    reader, a slice, has read.
    ``maker``: the position of the op that makes the tensor, -1 where it is an argument of a block.
    """

    function: str
    reader: int
    update: int
    copied: bool
    update_is_copy: bool
    is_reshape: bool
    is_moved: bool
    maker: int
    read_at: Place | None
    updated_at: Place | None


def reads_before_updates(module: ir.Operation) -> list[Read]:
    """Of ``module``, at phase flow: each op that reads a tensor beside an op that updates it in place. One behind that op reads the old
    elements, too: IREE has to copy the tensor for it. A dispatch whose results the update needs comes first in any schedule. What a loop or a branch passes on is `stale_reads`."""
    ops = ops_on_host(module)
    position = {hash(op): i for i, op in enumerate(ops)}
    found = []
    for op in ops:
        for target in dict.fromkeys(updated_in_place(op)):
            users = [use.owner.operation for v in same_buffer(_source(target)) for use in v.uses]
            readers = {
                hash(user): user
                for user in users
                if user != op and user.block == op.block and user.name not in (*_NO_READS, *HOST_REGIONS)
            }
            first = min((position[key] for key in readers), default=0)
            before = awaited_by([op], position, first)
            for key, reader in readers.items():
                if updated_in_place(reader) and _is_filled_for_each(target, op):
                    continue
                if key in before and reader.name == iree_ops.FLOW_DISPATCH and not updated_in_place(reader):
                    continue  # the update needs what the reader computes
                if position[hash(reader)] < position[hash(op)] or not updated_in_place(reader):
                    found.append(_read(reader, op, target, position))
    return found


def _is_filled_for_each(target: ir.Value, update: ir.Operation) -> bool:
    """Whether ``target`` is a fill beside ``update``: IREE 3.13 fills a buffer for each op that updates it, and copies none
    (PropagateClonableOps). The padded inputs of convolutions are such tensors."""
    root = _source(target)
    if isinstance(root.owner, ir.Block):
        return False
    fill = root.owner.operation
    return fill.name == iree_ops.FLOW_TENSOR_SPLAT and fill.block == update.block


def _read(reader: ir.Operation, update: ir.Operation, target: ir.Value, position: dict[int, int]) -> Read:
    is_reshape, root = reader.name == iree_ops.FLOW_TENSOR_RESHAPE, _source(target)
    return Read(
        function_of(update),
        position[hash(reader)],
        position[hash(update)],
        bool(updated_in_place(reader)),
        update.name == iree_ops.FLOW_TENSOR_UPDATE,
        is_reshape,
        _is_moved(reader, update),
        _maker(root, position),
        None if is_reshape else place_of(reader),
        place_of(update),
    )


def _maker(root: ir.Value, position: dict[int, int]) -> int:
    return -1 if isinstance(root.owner, ir.Block) else position.get(hash(root.owner.operation), -1)


def _is_moved(reader: ir.Operation, update: ir.Operation) -> bool:
    if reader.name != iree_ops.FLOW_TENSOR_SLICE or update.name != iree_ops.FLOW_TENSOR_UPDATE:
        return False
    return _source(view_of(update).update) == reader.results[0]


def _source(value: ir.Value) -> ir.Value:
    while (
        not isinstance(value.owner, ir.Block) and value.owner.operation.name == iree_ops.FLOW_TENSOR_RESHAPE
    ):
        value = value.owner.operation.operands[0]
    return value


@dataclass(frozen=True)
class Overlap:
    """In ``function``, a part of a buffer is copied to a part of the same buffer that overlaps it for certain (``sure``), or perhaps."""

    function: str
    sure: bool
    read_at: Place | None
    updated_at: Place | None


def overlaps_in_dispatches(module: ir.Operation) -> tuple[Overlap, ...]:
    """Those of ``module``, at phase flow, that are copied by a dispatch."""
    return tuple(
        Overlap(function_of(one.store), one.sure, place_of(one.load), place_of(one.store))
        for one in copied_inside(module)
    )


@dataclass(frozen=True)
class StaleRead:
    """The op at position ``update`` of ``function`` updates a tensor in place that a loop or a branch has passed on, and what is at
    ``read_at`` reads another one that may be the same buffer. ``update_is_copy``: the update itself is a copy of bytes. ``maker``: the position
    of the op that makes the tensor, -1 where it is an argument of a block. ``whole``: the bytes of the tensor, None where they are not known or
    the update writes all of it."""

    function: str
    update: int
    maker: int
    whole: int | None
    update_is_copy: bool
    read_at: Place | None
    updated_at: Place | None


def stale_reads(module: ir.Operation) -> list[StaleRead]:
    """Those of ``module``, at phase flow, unless IREE copies the tensor."""
    if not (found := stale_tensors(module, updated_in_place)):
        return []
    position = {hash(op): i for i, op in enumerate(ops_on_host(module))}
    return [
        StaleRead(
            function_of(one.update),
            position[hash(one.update)],
            _maker(_source(one.target), position),
            _whole(one.update, one.target),
            one.update.name == iree_ops.FLOW_TENSOR_UPDATE,
            place_of(one.reader),
            place_of(one.update),
        )
        for one in found
    ]


def _whole(update: ir.Operation, target: ir.Value) -> int | None:
    whole = bytes_of_tensor(target.type)
    part = (
        bytes_of_tensor(view_of(update).update.type) if update.name == iree_ops.FLOW_TENSOR_UPDATE else None
    )
    return None if whole == part else whole


@dataclass(frozen=True)
class Schedule:
    """What IREE makes of reads and updates: those reads that do not come before the update (``late``), and the parts of buffers that are
    copied to ``overlapping`` parts, and those tensors that it makes anew, but not as often as needed, or not what is needed (``remade``).
    ``stale``: reads of tensors that are the buffer of one that is updated in place. ``donated``: results in the buffers of arguments."""

    late: tuple[Read, ...] = ()
    overlapping: tuple[Overlap, ...] = ()
    remade: tuple[Remade, ...] = ()
    stale: tuple[StaleRead, ...] = ()
    donated: tuple[DonatedStorage, ...] = ()


def schedule_of(
    reads: Iterable[Read], remade: Iterable[Remade], stale: Iterable[StaleRead], module: ir.Operation
) -> Schedule:
    """That of ``reads``, ``remade`` and ``stale`` in ``module``, the same program at phase stream."""
    known, commands = list(reads), commands_of(module)
    moved = ((one, _overlap(commands.get(one.update, []))) for one in known if one.is_moved)
    return Schedule(
        tuple(one for one in known if _is_late(one, commands)),
        tuple(
            Overlap(one.function, sure, one.read_at, one.updated_at)
            for one, sure in moved
            if sure is not None
        ),
        wrongly_remade(remade, commands),
        tuple(one for one in stale if _is_in_place(one, commands)),
    )


def _is_in_place(one: StaleRead, commands: dict[int, list[Command]]) -> bool:
    """Whether IREE has not copied the tensor for the update, nor made it anew. The copy that the update itself is may be a dispatch's."""
    updates, makers = commands.get(one.update, []), commands.get(one.maker, [])
    copies = [command for command in updates if command.copies]
    if not updates or len(makers) > 1 or any(command.length == one.whole for command in copies if one.whole):
        return False
    return len(copies) <= one.update_is_copy


def _overlap(updates: list[Command]) -> bool | None:
    """Whether a copy that an update comes to reads bytes that it writes: for certain, or perhaps (False); None where none does."""
    copies = [command.accesses for command in updates if command.copies]
    for read, written in copies:
        wholes = [(source, target) for source, target in copies if target != written]
        if not read.overlaps(written) or any(_reads_another(read, *whole) for whole in wholes):
            continue
        return read.is_known and written.is_known
    return None


def _reads_another(read: Access, source: Access, target: Access) -> bool:
    """Whether what is read is perhaps the ``source`` of a copy, and not the ``target``, where both are parts of one resource."""
    if source.resource != target.resource or read.resource != target.resource:
        return False
    if read.start is None or target.start is None or target.end is None:
        return True
    return not target.start <= read.start < target.end


def _is_late(one: Read, commands: dict[int, list[Command]]) -> bool:
    readers, updates = commands.get(one.reader, []), commands.get(one.update, [])
    if sum(command.copies for command in updates) > one.update_is_copy:
        return False  # it updates a copy
    # IREE gives a clone the location of what makes the tensor.
    makers = [command for command in commands.get(one.maker, []) if not command.copies]
    if makers and not any(update.changes(maker) for maker in makers for update in updates):
        return False  # it updates a copy that has the update's location
    if one.copied:
        readers = [command for command in readers if command.copies]
    if one.is_reshape and len(readers) > 1 and updates and _works_on(readers[0], updates[0]):
        return False  # it was copied twice: once for the update
    return any(
        (read.order > update.order or read.group == update.group) and read.meets(update)
        for read in readers
        for update in updates
    )


def _works_on(copy: Command, update: Command) -> bool:
    """Whether ``update`` comes behind ``copy`` and changes what that has written."""
    return (
        copy.copies
        and copy.order < update.order
        and any(copy.accesses[1].overlaps(access) for access in update.accesses)
    )

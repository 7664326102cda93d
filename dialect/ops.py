"""The ops of the dialect `fissile` as Python classes, with builders and accessors.

IREE's wheel cannot register a dialect in process, so these are unregistered ops: they print and parse in
MLIR's generic form, and come back from the parser as the classes below. `fissile.irdl.mlir` describes the
same ops for `iree-opt --irdl-file`; `verify.py` holds the rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects._ods_common import _cext

from .attributes import text_of

NAMESPACE = "fissile"
BUDGET = "fissile.budget"
"""Attribute on a function or op: the on-chip bytes (i64) that one dispatch of it may use."""
STORAGE_TYPE = "!fissile.storage"
"""The type of explicit storage: opaque in process, a type of the dialect under IRDL; both spell it alike."""
GROUP_TERMINATOR = "flow.return"
"""What ends a group's body. IRDL cannot declare a terminator, so the dialect borrows IREE's, which has no
rule about its parent and which a dispatch region needs in any case."""


@_cext.register_dialect
class FissileDialect(ir.Dialect):
    """Only a name: the context keeps the dialect unregistered."""

    DIALECT_NAMESPACE = NAMESPACE


class _FissileOp(ir.OpView):
    """What the classes below share: building an op from operands, result types and attributes."""

    _ODS_REGIONS = (0, True)

    def _build(
        self,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        attributes: dict | None = None,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None:
        super().__init__(
            self.OPERATION_NAME,
            self._ODS_REGIONS,
            self._ODS_OPERAND_SEGMENTS,
            self._ODS_RESULT_SEGMENTS,
            attributes=attributes or {},
            results=list(results),
            operands=list(operands),
            successors=None,
            regions=None,
            loc=loc,
            ip=ip,
        )


@_cext.register_operation(FissileDialect)
class BoundaryOp(_FissileOp):
    """`fissile.boundary`: the value itself; nothing fuses across this edge."""

    OPERATION_NAME = "fissile.boundary"

    def __init__(self, value: ir.Value, *, loc=None, ip=None) -> None:
        self._build([value], [value.type], loc=loc, ip=ip)

    @property
    def value(self) -> ir.Value:
        return self.operation.operands[0]


@_cext.register_operation(FissileDialect)
class GroupOp(_FissileOp):
    """`fissile.group`: the ops of its body stay in one dispatch. The body may use values from outside; it ends in `flow.return` of the results and has no calls.
    Whether a dispatch may have control flow (`scf.if`, `scf.for` on tensors) is up to the target's code generation."""

    OPERATION_NAME = "fissile.group"
    _ODS_REGIONS = (1, True)

    def __init__(self, results: Sequence[ir.Type], *, loc=None, ip=None) -> None:
        """A group with an empty body: fill ``body`` and end it with GROUP_TERMINATOR."""
        self._build([], results, loc=loc, ip=ip)
        self.operation.regions[0].blocks.append()

    @property
    def body(self) -> ir.Block:
        return self.operation.regions[0].blocks[0]

    @property
    def yielded(self) -> list[ir.Value]:
        return list(list(self.body.operations)[-1].operation.operands)


@_cext.register_operation(FissileDialect)
class RequireOp(_FissileOp):
    """`fissile.require`: a precondition (i1) with the message that is reported where it does not hold."""

    OPERATION_NAME = "fissile.require"

    def __init__(self, condition: ir.Value, message: str, *, loc=None, ip=None) -> None:
        self._build(
            [condition], [], {"message": ir.StringAttr.get(message, context=condition.context)}, loc, ip
        )

    @property
    def condition(self) -> ir.Value:
        return self.operation.operands[0]

    @property
    def message(self) -> str:
        return text_of(self.operation, "message")


@_cext.register_operation(FissileDialect)
class AllocStorageOp(_FissileOp):
    """`fissile.alloc_storage`: ``capacity`` bytes (index) of storage."""

    OPERATION_NAME = "fissile.alloc_storage"

    def __init__(self, capacity: ir.Value, *, loc=None, ip=None) -> None:
        self._build([capacity], [ir.Type.parse(STORAGE_TYPE, capacity.context)], loc=loc, ip=ip)

    @property
    def capacity(self) -> ir.Value:
        return self.operation.operands[0]


@_cext.register_operation(FissileDialect)
class AllocTensorOp(_FissileOp):
    """`fissile.alloc_tensor`: a tensor of unspecified content on ``storage``, from byte ``offset`` on.

    ``sizes`` are the sizes (index) of the result's dynamic dimensions, in order.
    """

    OPERATION_NAME = "fissile.alloc_tensor"

    def __init__(
        self,
        result: ir.Type,
        storage: ir.Value,
        offset: ir.Value,
        sizes: Sequence[ir.Value] = (),
        *,
        loc=None,
        ip=None,
    ) -> None:
        self._build([storage, offset, *sizes], [result], loc=loc, ip=ip)

    @property
    def storage(self) -> ir.Value:
        return self.operation.operands[0]

    @property
    def offset(self) -> ir.Value:
        return self.operation.operands[1]

    @property
    def sizes(self) -> list[ir.Value]:
        return list(self.operation.operands)[2:]


@_cext.register_operation(FissileDialect)
class KillOp(_FissileOp):
    """`fissile.kill`: the end of life of a storage or of a tensor on one; nothing uses it afterwards."""

    OPERATION_NAME = "fissile.kill"

    def __init__(self, value: ir.Value, *, loc=None, ip=None) -> None:
        self._build([value], [], loc=loc, ip=ip)

    @property
    def value(self) -> ir.Value:
        return self.operation.operands[0]


OPS: tuple[type[_FissileOp], ...] = (BoundaryOp, GroupOp, RequireOp, AllocStorageOp, AllocTensorOp, KillOp)
OP_NAMES: tuple[str, ...] = tuple(cls.OPERATION_NAME for cls in OPS)

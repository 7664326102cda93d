"""What a dispatch is to compute: its function before code generation, evaluated by the witness on the same bindings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops
from fissile.pipelines.numerics.witness.elements import element_of_type, hold
from fissile.pipelines.numerics.witness.interpreter import Interpreter
from fissile.pipelines.numerics.witness.registry import NoWitness
from fissile.pipelines.numerics.witness.tensors import kept_sizes
from fissile.pipelines.numerics.witness.views import maps_of

from .machine import SIMULATORS, mixed, segments
from .memory import Buffer, View, storage, suffix_strides

_VIEWS = (
    "memref.subview",
    "memref.expand_shape",
    "memref.collapse_shape",
    "memref.reinterpret_cast",
    "memref.extract_strided_metadata",
)
_PASSED_ON = (
    iree_ops.TENSOR_EXT_DISPATCH_WORKLOAD_ORDINAL,
    iree_ops.UTIL_ASSUME_INT,
    "memref.assume_alignment",
    "memref.cast",
    "amdgpu.fat_raw_buffer_cast",
)


class Reference(Interpreter):
    """Runs the function of a configured dispatch. ``stores`` has what it stores: binding, first byte, element and values."""

    def __init__(
        self, module: ir.Operation, bindings: Mapping[int, Buffer], constants: Mapping[int, int]
    ) -> None:
        super().__init__(module)
        self._bindings, self._constants = bindings, constants
        self.stores: list[tuple[View, np.ndarray]] = []
        self.views: list[View] = []
        self.loaded: set[int] = set()
        """Which of ``views`` are read."""
        self.workload: dict[int, int] = {}

    def skim(self, function: ir.Operation) -> None:
        """Runs what decides sizes and offsets alone."""
        for op in function.regions[0].blocks[0].operations:
            op = op.operation
            if op.name in (iree_ops.CODEGEN_LOAD_FROM_BUFFER, iree_ops.TENSOR_EXT_DISPATCH_TENSOR_LOAD):
                view = self.values[op.operands[0]]
                self.loaded |= {at for at, one in enumerate(self.views) if one is view}
                continue
            if op.name == "linalg.generic" and not op.results:
                source = self.values.get(op.operands[0])
                self.loaded |= {
                    at
                    for at, one in enumerate(self.views)
                    if source is not None and one.buffer is source.buffer
                }
                continue
            known = all(v in self.values for v in op.operands)
            if known and op.results and not any(isinstance(v.type, ir.RankedTensorType) for v in op.results):
                self.evaluate(op)

    def evaluate(self, op: ir.Operation) -> None:
        name = op.name
        if name in _PASSED_ON:
            results = [self.values[v] for v in list(op.operands)[: len(op.results)]]
            if name == iree_ops.TENSOR_EXT_DISPATCH_WORKLOAD_ORDINAL:
                self.workload[ir.IntegerAttr(op.attributes["ordinal"]).value] = int(results[0])
        elif name == iree_ops.HAL_INTERFACE_CONSTANT_LOAD:
            ordinal = ir.IntegerAttr(op.attributes["ordinal"]).value
            if ordinal not in self._constants:
                raise NoWitness("a constant of the host")
            results = [element_of_type(op.results[0].type).held.type(self._constants[ordinal])]
        elif name == iree_ops.HAL_INTERFACE_BINDING_SUBSPAN:
            results = [self._view(op)]
        elif name == iree_ops.CODEGEN_LOAD_FROM_BUFFER:
            results = [self._load(self.values[op.operands[0]])]
        elif name == iree_ops.CODEGEN_STORE_TO_BUFFER:
            value, view = (self.values[v] for v in op.operands)
            self.stores.append((view, np.asarray(value)))
            results = []
        elif name == iree_ops.TENSOR_EXT_DISPATCH_TENSOR_LOAD:
            (view,), _dims, *slice_ = segments(op, [self.values[v] for v in op.operands])
            shape = [int(n) for n in mixed(op, "static_sizes", slice_[1])]
            results = [
                self._load(self._part(op, view, slice_)).reshape(
                    kept_sizes(ir.ShapedType(op.results[0].type), shape)
                )
            ]
        elif name == iree_ops.TENSOR_EXT_DISPATCH_TENSOR_STORE:
            (value,), (view,), _dims, *slice_ = segments(op, [self.values[v] for v in op.operands])
            part = self._part(op, view, slice_)
            self.stores.append((part, np.asarray(value).reshape(part.sizes)))
            results = []
        elif name == "linalg.generic" and not op.results:
            self._copy(op)
            results = []
        elif name in _VIEWS:
            operands = [self.values[v] for v in op.operands]
            results = SIMULATORS[name](
                self, op, [one if isinstance(one, View) else int(one) for one in operands]
            )
        else:
            super().evaluate(op)
            return
        self.values.update(zip(op.results, results, strict=True))

    def _view(self, op: ir.Operation) -> View:
        type_ = _shaped(op.results[0].type)
        element = element_of_type(type_.element_type)
        offset, *sizes = (int(self.values[v]) for v in op.operands)
        given = iter(sizes)
        shape = [next(given) if type_.is_dynamic_dim(i) else type_.get_dim_size(i) for i in range(type_.rank)]
        number = ir.IntegerAttr(op.attributes["binding"]).value
        view = View(
            self._bindings[number], element, offset * 8 // element.bits, tuple(shape), suffix_strides(shape)
        )
        self.views.append(view)
        return view

    def _load(self, view: View) -> np.ndarray:
        held, places = view.buffer.elements(storage(view.element))[0], view.every_place()
        if places.size and int(places.max()) >= held.size:
            raise NoWitness("sizes of the host that do not agree")
        part = held[places]
        return hold(part if view.element.kind == "integer" else part.astype(np.float64), view.element)

    def _copy(self, op: ir.Operation) -> None:
        """A copy between bindings, the one op on buffers before code generation."""
        ops, arguments = list(op.regions[0].blocks[0].operations), list(op.regions[0].blocks[0].arguments)
        maps = maps_of(op)
        if (
            len(ops) != 1
            or list(ops[0].operands) != arguments[:1]
            or len(arguments) != 2
            or maps[0] != maps[1]
        ):
            raise NoWitness("a computation on buffers")
        source, target = (self.values[v] for v in op.operands)
        self.stores.append((target, self._load(source)))

    def _part(self, op: ir.Operation, view: View, operands: list[list]) -> View:
        """The slice of ``view`` that a load or a store names."""
        offsets, sizes, strides = (
            [int(n) for n in mixed(op, name, given)]
            for name, given in zip(
                ("static_offsets", "static_sizes", "static_strides"), operands, strict=True
            )
        )
        start = view.offset + sum(at * step for at, step in zip(offsets, view.strides, strict=True))
        steps = tuple(a * b for a, b in zip(strides, view.strides, strict=True))
        return view.changed(offset=start, sizes=tuple(sizes), strides=steps)


def _shaped(type_: ir.Type) -> ir.ShapedType:
    """Of a memref, or of the tensor that a binding of IREE's tensor type holds."""
    text = str(type_)
    if not text.startswith(iree_ops.TENSOR_EXT_DISPATCH_TENSOR):
        return ir.ShapedType(type_)
    return ir.ShapedType(ir.Type.parse(text[text.index(":") + 1 : -1], type_.context))

"""Reads a configured dispatch from IR into plain data (`tiles.ConfiguredDispatch`). Changes nothing."""

from __future__ import annotations

import math
import re
from typing import cast

from iree.compiler import ir
from iree.compiler._mlir_libs._ireeCompilerDialects import iree_codegen

from fissile.dialect.linalg_ops import indexing_maps
from fissile.dialect.operands import init_of, init_positions
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.attributes import Lowering, lowering_of, translation_of

from ..dispatch.dispatches import Dispatch
from ..dispatch.linear_index import Linear, extents_of_loops, linear_index
from ..dispatch.provenance import place_of, tags_of
from .footprint import NO_BOUND, element_bits
from .tiles import Config, ConfiguredDispatch, Dim, Gemm, Op, Value

_RESHAPES = (
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "tensor.extract_slice",
    "tensor.insert_slice",
    "tensor.cast",
    "tensor.bitcast",
    iree_ops.TENSOR_EXT_BITCAST,
)
_HARMLESS = re.compile(
    r"(arith|affine|math|util|hal|amdgpu|iree_tensor_ext|iree_codegen|memref|tensor|func|flow|index)\."
)
_COMPUTES = {
    "tensor.pad",
    "tensor.pack",
    "tensor.unpack",
    "tensor.gather",
    "tensor.scatter",
    "tensor.generate",
}
_KNOWN_KEYS = {
    "workgroup",
    "reduction",
    "thread",
    "subgroup",
    "promote_operands",
    "mma_kind",
    "padding",
    "padding_conv",
    "lane_basis",
    "subgroup_basis",
    "partial_reduction",
    "serial",
    "tile_sizes",
    "distribution",
    "vector_common_parallel",
    "vector_reduction",
    "vector_inner_parallel",
    "cache_parallel",
    "cache_reduction",
    "vector_size",
    "expand_dims",
}
_SHAPED = (ir.RankedTensorType, ir.MemRefType)
_LOADS = (iree_ops.TENSOR_EXT_DISPATCH_TENSOR_LOAD, iree_ops.CODEGEN_LOAD_FROM_BUFFER)
_STORES = (iree_ops.TENSOR_EXT_DISPATCH_TENSOR_STORE, iree_ops.CODEGEN_STORE_TO_BUFFER)


def read_configured(dispatch: Dispatch) -> ConfiguredDispatch:
    """The structured ops of ``dispatch``'s function with their loops, indexing maps and configurations."""
    inner = dispatch.inner_module()
    function = next(
        op.operation for op in inner.regions[0].blocks[0].operations if op.operation.name == "func.func"
    )
    return _Reader(dispatch, function).read()


class _Reader:
    def __init__(self, dispatch: Dispatch, function: ir.Operation) -> None:
        self.dispatch = dispatch
        self.function = function
        self.numbers: dict[ir.Operation, int] = {}
        self.names: dict[ir.Value, str] = {}
        self.bounds: dict[str, int] = {}
        self.stored: set[int] = set()

    def read(self) -> ConfiguredDispatch:
        ops: list[ir.Operation] = []
        opaque: list[str] = []
        for block in self.function.regions[0].blocks:
            for op in block.operations:
                operation = op.operation
                if operation.name.startswith("linalg.") or operation.name in _COMPUTES:
                    self.numbers[operation] = len(ops)
                    ops.append(operation)
                elif operation.name.startswith(iree_ops.LINALG_EXT_OPS) or not _HARMLESS.match(
                    operation.name
                ):
                    if operation.name not in ("func.return",):
                        self.numbers[operation] = len(ops)
                        ops.append(operation)
                        opaque.append(operation.name)
        for block in self.function.regions[0].blocks:
            for op in block.operations:
                if op.operation.name in _STORES:
                    maker = self._maker(op.operation.operands[0])[0]
                    if maker is not None:
                        self.stored.add(maker)
        translation = translation_of(self.function)
        target = self.dispatch.target
        return ConfiguredDispatch(
            name=self.dispatch.name,
            backend=target.backend,
            pipeline=self.dispatch.codegen,
            options=dict(translation.options),
            workgroup=translation.workgroup or (1,),
            subgroup=translation.subgroup or target.smallest_subgroup,
            limit=target.workgroup_bytes if target.backend != "llvm-cpu" else target.stack_bytes,
            ops=tuple(self._op(op) for op in ops),
            opaque=tuple(opaque),
            bounds=self.bounds,
        )

    def _op(self, op: ir.Operation) -> Op:
        number = self.numbers[op]
        lowering = lowering_of(op)
        config = _config(lowering) if lowering else None
        base = dict(
            number=number,
            name=op.name,
            config=config,
            tags=tags_of(op),
            place=place_of(op),
            stored=number in self.stored or not op.results,
        )
        maps = indexing_maps(op)
        if maps is None:
            makers = tuple(
                self._value(o, None) for o in op.operands if isinstance(o.type, ir.RankedTensorType)
            )
            return Op(**base, loops=(), reduction=(), inputs=makers, inits=(), understood=False)
        kinds = (
            [str(kind) for kind in op.attributes["iterator_types"]]
            if "iterator_types" in op.attributes
            else []
        )
        operands = [o for o in op.operands]
        first_init = _input_count(op)
        values = []
        for operand, indexing in zip(operands, maps, strict=True):
            values.append(self._value(operand, indexing))
        loops = extents_of_loops(
            maps,
            lambda number, dimension: values[number].shape[dimension],
            lambda size: isinstance(size, int),
        )
        reduction = tuple("reduction" in kind for kind in kinds) or _reductions(
            values[first_init:], maps[0].n_dims
        )
        tensors = [
            v for v, o in zip(values[:first_init], operands, strict=False) if isinstance(o.type, _SHAPED)
        ]
        return Op(
            **base,
            loops=cast("tuple[Dim, ...]", loops),  # all known, where the op is understood
            reduction=reduction,
            inputs=tuple(tensors),
            inits=tuple(values[first_init:]),
            understood=None not in loops,
            gemm=_gemm(op) if config else None,
            fills_zero=op.name == "linalg.fill" and _is_zero(operands[0]),
        )

    def _value(self, value: ir.Value, indexing: ir.AffineMap | None) -> Value:
        maker, reshaped, result = self._maker(value)
        if not isinstance(value.type, _SHAPED):
            return Value((), 0, str(value.type), ())
        shape = self._shape(value)
        bits = element_bits(value.type.element_type)
        if indexing is None:
            index: tuple[Linear | None, ...] = (None,) * len(shape)
        else:
            index = tuple(linear_index(expr, indexing.n_dims) for expr in indexing.results)
        empty = not isinstance(value.owner, ir.Block) and value.owner.operation.name == "tensor.empty"
        return Value(shape, bits, str(value.type.element_type), index, maker, reshaped, empty, result)

    def _maker(self, value: ir.Value) -> tuple[int | None, bool, int]:
        """The op that computes ``value``, whether it is reshaped in between, and which of the op's results it is."""
        reshaped = False
        while True:
            owner = value.owner
            if isinstance(owner, ir.Block):
                return None, reshaped, 0
            operation = owner.operation
            if operation in self.numbers:
                return self.numbers[operation], reshaped, ir.OpResult(value).result_number
            if operation.name in _RESHAPES:
                value, reshaped = operation.operands[0], True
                continue
            return None, reshaped, 0

    def _shape(self, value: ir.Value) -> tuple[Dim, ...]:
        type_ = value.type
        dims: list[Dim] = []
        dynamic = self._dynamic_sizes(value)
        for i in range(type_.rank):
            if type_.is_dynamic_dim(i):
                dims.append(dynamic.pop(0) if dynamic else f"{self._name(value)}_{i}")
            else:
                dims.append(type_.shape[i])
        return tuple(dims)

    def _dynamic_sizes(self, value: ir.Value) -> list[str]:
        """Names of the dynamic dimensions of ``value``, where the IR says which values they are."""
        owner = value.owner
        if isinstance(owner, ir.Block):
            return []
        op = owner.operation
        if op.name == "tensor.empty":
            return [self._name(o) for o in op.operands]
        if op.name == _LOADS[1]:
            return self._dynamic_sizes(op.operands[0])
        if op.name == "amdgpu.fat_raw_buffer_cast":
            return self._dynamic_sizes(op.operands[0])
        if op.name == iree_ops.HAL_INTERFACE_BINDING_SUBSPAN:
            return [self._name(o) for o in list(op.operands)[1:]]
        if op.name == _LOADS[0]:
            owner = op.operands[0].owner
            if not isinstance(owner, ir.Block):
                return [self._name(o) for o in list(owner.operation.operands)[1:]]
        if (init := init_of(op, ir.OpResult(value).result_number)) is not None:
            return self._dynamic_sizes(init)
        return []

    def _name(self, value: ir.Value) -> str:
        """One name per size: what the host passes in, seen through assumptions and casts."""
        bound = None
        while not isinstance(value.owner, ir.Block):
            op = value.owner.operation
            if op.name == iree_ops.UTIL_ASSUME_INT:
                position = list(op.results).index(value)
                bound = min(filter(None, (bound, _assumed_bound(op, position))), default=None)
                value = op.operands[position]
            elif op.name in (
                iree_ops.TENSOR_EXT_DISPATCH_WORKLOAD_ORDINAL,
                "arith.index_castui",
                "arith.index_cast",
            ):
                value = op.operands[0]
            else:
                break
        name = self.names.setdefault(value, f"n{len(self.names)}")
        if bound is not None:
            self.bounds[name] = min(bound, self.bounds.get(name, bound))
        return name


def _input_count(op: ir.Operation) -> int:
    """How many operands come before the inits; an op on buffers has inits and no results."""
    found = init_positions(op)
    return found.start if found is not None else len(op.operands) - max(1, len(op.results))


def _config(lowering: Lowering) -> Config:
    other = tuple(key for key in lowering.keys if key not in _KNOWN_KEYS)
    return Config(lowering.lists, lowering.levels, lowering.intrinsic, lowering.subgroups, other)


def _gemm(op: ir.Operation) -> Gemm | None:
    """The matrix product that IREE's ConvolutionToIGEMM makes of a convolution; None for other ops."""
    details = iree_codegen.get_igemm_generic_conv_details(op)
    if details is None:
        return None
    maps = [ir.AffineMapAttr(a).value for a in details.igemm_contraction_maps]
    inputs = (1, 0) if details.is_output_channel_first else (0, 1)
    operands = tuple(
        (tuple(linear_index(expr, maps[position].n_dims) for expr in maps[position].results), number)
        for position, number in enumerate(inputs)
    )
    reduction = tuple("reduction" in str(kind) for kind in details.igemm_loop_iterators)
    return Gemm(tuple(details.igemm_loop_bounds), reduction, operands)


def _assumed_bound(op: ir.Operation, position: int) -> int | None:
    """The largest value that `util.assume.int` allows for one operand; None where it states nothing of
    use."""
    bounds = []
    for assumption in ir.ArrayAttr(ir.ArrayAttr(op.attributes["assumptions"])[position]):
        match = re.search(r"umax = (\d+)", str(assumption))
        bounds.append(int(match[1]) if match else NO_BOUND)
    largest = max(bounds, default=NO_BOUND)
    return largest if largest < NO_BOUND else None


def _reductions(inits: list[Value], count: int) -> tuple[bool, ...]:
    kept = {loop for value in inits for index in value.index if index is not None for loop in index.loops}
    return tuple(loop not in kept for loop in range(count))


def _is_zero(value: ir.Value) -> bool:
    """A scalar that is the constant 0 (0.0, not -0.0)."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return False
    constant = value.owner.operation.attributes["value"]
    if isinstance(constant, ir.FloatAttr):
        return math.copysign(1, constant.value) == 1 and constant.value == 0
    return isinstance(constant, ir.IntegerAttr) and constant.value == 0

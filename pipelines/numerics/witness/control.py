"""Calls, globals, branches and loops, and what IREE puts around tensors at a function's border."""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops

from .elements import element_of_type, hold
from .registry import NoWitness, evaluates


@evaluates(iree_ops.UTIL_CALL, "func.call")
def _call(interpreter, op, operands):
    return interpreter.call(ir.FlatSymbolRefAttr(op.attributes["callee"]).value, operands)


@evaluates(iree_ops.UTIL_GLOBAL_LOAD)
def _load(interpreter, op, operands):
    return [interpreter.global_value(ir.FlatSymbolRefAttr(op.attributes["global"]).value)]


@evaluates(iree_ops.UTIL_GLOBAL_STORE)
def _store(interpreter, op, operands):
    interpreter.globals[ir.FlatSymbolRefAttr(op.attributes["global"]).value] = operands[0]
    return []


@evaluates(iree_ops.UTIL_GLOBAL_ADDRESS)
def _address(interpreter, op, operands):
    return [("global", ir.FlatSymbolRefAttr(op.attributes["global"]).value)]


@evaluates(iree_ops.UTIL_GLOBAL_LOAD_INDIRECT)
def _load_indirect(interpreter, op, operands):
    return [interpreter.global_value(operands[0][1])]


@evaluates(iree_ops.UTIL_GLOBAL_STORE_INDIRECT)
def _store_indirect(interpreter, op, operands):
    interpreter.globals[operands[1][1]] = operands[0]
    return []


@evaluates(iree_ops.UTIL_OPTIMIZATION_BARRIER)
def _same(interpreter, op, operands):
    return operands


@evaluates(
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_START,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_END,
    iree_ops.FLOW_TENSOR_TIE_SHAPE,
    iree_ops.FLOW_TENSOR_TRANSFER,
    iree_ops.FLOW_TENSOR_CLONE,
    iree_ops.FLOW_TENSOR_BARRIER,
    iree_ops.UTIL_ASSUME_INT,
    iree_ops.UTIL_ALIGN_IDENTITY,
    iree_ops.ENCODING_SET_ENCODING,
    iree_ops.ENCODING_UNSET_ENCODING,
    iree_ops.HAL_TENSOR_TRANSIENTS,
)
def _first(interpreter, op, operands):
    if op.name == iree_ops.UTIL_ASSUME_INT:
        return operands
    return operands[:1]


@evaluates(
    iree_ops.UTIL_NULL,
    iree_ops.HAL_FENCE_CREATE,
    iree_ops.HAL_FENCE_AWAIT,
    iree_ops.HAL_FENCE_JOIN,
    iree_ops.HAL_DEVICES_GET,
    iree_ops.HAL_FENCE_SIGNAL,
    iree_ops.HAL_ALLOCATOR_SELECT,
    iree_ops.HAL_DEVICE_ALLOCATOR,
)
def _no_number(interpreter, op, operands):
    return [np.int64(0) for _ in op.results]


@evaluates(iree_ops.HAL_TENSOR_IMPORT)
def _import(interpreter, op, operands):
    value = np.asarray(operands[0])
    return [hold(value, element_of_type(op.results[0].type))]


@evaluates(iree_ops.HAL_TENSOR_EXPORT)
def _export(interpreter, op, operands):
    return operands[:1]


@evaluates(iree_ops.HAL_TENSOR_BARRIER)
def _barrier(interpreter, op, operands):
    return operands[: len(op.results)]


@evaluates(iree_ops.HAL_BUFFER_VIEW_DIM)
def _view_dim(interpreter, op, operands):
    return [np.int64(np.shape(operands[0])[ir.IntegerAttr(op.attributes["index"]).value])]


@evaluates(
    iree_ops.HAL_BUFFER_VIEW_ASSERT,
    iree_ops.UTIL_ASSUME_NARROW,
    iree_ops.HAL_BUFFER_VIEW_TRACE,
    iree_ops.FLOW_TENSOR_TRACE,
)
def _nothing(interpreter, op, operands):
    return operands[: len(op.results)]


@evaluates("cf.assert", iree_ops.UTIL_ASSERT)
def _assert(interpreter, op, operands):
    if not bool(np.all(operands[0])):
        raise NoWitness(f"an assertion that fails: {text_of(op, 'msg')[:80]}")
    return []


@evaluates("scf.if")
def _if(interpreter, op, operands):
    condition = np.asarray(operands[0])
    branches = [region for region in op.regions if len(region.blocks)]
    if condition.size == 1:
        chosen = bool(condition.reshape(-1)[0])
        if not chosen and len(branches) < 2:
            return []
        return interpreter.region(branches[0 if chosen else 1], [])
    if len(branches) < 2 or not op.results:
        raise NoWitness("scf.if with an effect in a body")
    interpreter.masked += 1
    try:
        taken, other = (interpreter.region(branch, []) for branch in branches)
    finally:
        interpreter.masked -= 1
    return [np.where(condition, a, b) for a, b in zip(taken, other, strict=True)]


def _scalar(value) -> int:
    value = np.asarray(value)
    if value.size != 1:
        if value.size and (value == value.reshape(-1)[0]).all():
            return int(value.reshape(-1)[0])
        raise NoWitness("a loop in a body whose bounds vary")
    return int(value.reshape(-1)[0])


@evaluates("scf.for")
def _for(interpreter, op, operands):
    low, high, step = map(_scalar, operands[:3])
    carried, block = list(operands[3:]), op.regions[0].blocks[0]
    if step <= 0:
        raise NoWitness("scf.for with a step that is not positive")
    for index in range(low, high, step):
        interpreter.step()
        carried = interpreter.block(block, [np.int64(index), *carried])[1]
    return carried


@evaluates("scf.while")
def _while(interpreter, op, operands):
    before, after = (region.blocks[0] for region in op.regions)
    carried = list(operands)
    while True:
        interpreter.step()
        condition, *passed = interpreter.block(before, carried)[1]
        if not _scalar(condition):
            return passed
        carried = interpreter.block(after, passed)[1]


@evaluates("scf.execute_region")
def _execute(interpreter, op, operands):
    return interpreter.region(op.regions[0], [])


@evaluates("scf.index_switch")
def _switch(interpreter, op, operands):
    cases = list(ir.DenseI64ArrayAttr(op.attributes["cases"]))
    value = _scalar(operands[0])
    region = op.regions[1 + cases.index(value)] if value in cases else op.regions[0]
    return interpreter.region(region, [])

"""Names of IREE's ops, types, dialects and attributes: the one place that spells them. IREE 3.12 and 3.13."""

from __future__ import annotations

# flow
FLOW_DISPATCH = "flow.dispatch"
FLOW_DISPATCH_REGION = "flow.dispatch.region"
FLOW_DISPATCH_WORKGROUPS = "flow.dispatch.workgroups"
FLOW_EXECUTABLE = "flow.executable"
FLOW_RETURN = "flow.return"
FLOW_TENSOR_ALLOCA = "flow.tensor.alloca"
FLOW_TENSOR_BARRIER = "flow.tensor.barrier"
FLOW_TENSOR_BITCAST = "flow.tensor.bitcast"
FLOW_TENSOR_CLONE = "flow.tensor.clone"
FLOW_TENSOR_CONSTANT = "flow.tensor.constant"
FLOW_TENSOR_DYNAMIC_CONSTANT = "flow.tensor.dynamic_constant"
FLOW_TENSOR_EMPTY = "flow.tensor.empty"
FLOW_TENSOR_LOAD = "flow.tensor.load"
FLOW_TENSOR_RESHAPE = "flow.tensor.reshape"
FLOW_TENSOR_SLICE = "flow.tensor.slice"
FLOW_TENSOR_SPLAT = "flow.tensor.splat"
FLOW_TENSOR_STORE = "flow.tensor.store"
FLOW_TENSOR_TIE_SHAPE = "flow.tensor.tie_shape"
FLOW_TENSOR_TRACE = "flow.tensor.trace"
FLOW_TENSOR_TRANSFER = "flow.tensor.transfer"
FLOW_TENSOR_UPDATE = "flow.tensor.update"

# hal
HAL_ALLOCATOR_SELECT = "hal.allocator.select"
HAL_BUFFER_VIEW_ASSERT = "hal.buffer_view.assert"
HAL_BUFFER_VIEW_DIM = "hal.buffer_view.dim"
HAL_BUFFER_VIEW_TRACE = "hal.buffer_view.trace"
HAL_DEVICE_ALLOCATOR = "hal.device.allocator"
HAL_DEVICES_GET = "hal.devices.get"
HAL_EXECUTABLE = "hal.executable"
HAL_EXECUTABLE_BINARY = "hal.executable.binary"
HAL_EXECUTABLE_OBJECT = "hal.executable.object"
HAL_EXECUTABLE_SOURCE = "hal.executable.source"
"""A dispatch written by hand, for --compile-mode=hal-executable; the phases of a whole program convert its body as if it were host code."""
HAL_EXECUTABLE_VARIANT = "hal.executable.variant"
HAL_FENCE_AWAIT = "hal.fence.await"
HAL_FENCE_CREATE = "hal.fence.create"
HAL_FENCE_JOIN = "hal.fence.join"
HAL_FENCE_SIGNAL = "hal.fence.signal"
HAL_INTERFACE_BINDING_SUBSPAN = "hal.interface.binding.subspan"
HAL_INTERFACE_CONSTANT_LOAD = "hal.interface.constant.load"
HAL_INTERFACE_WORKGROUP_COUNT = "hal.interface.workgroup.count"
HAL_INTERFACE_WORKGROUP_ID = "hal.interface.workgroup.id"
HAL_INTERFACE_WORKGROUP_SIZE = "hal.interface.workgroup.size"
HAL_TENSOR_ALIAS = "hal.tensor.alias"
HAL_TENSOR_BARRIER = "hal.tensor.barrier"
HAL_TENSOR_EXPORT = "hal.tensor.export"
HAL_TENSOR_IMPORT = "hal.tensor.import"
HAL_TENSOR_TRANSIENTS = "hal.tensor.transients"

# iree_codegen
CODEGEN_DISPATCH_CONFIG = "iree_codegen.dispatch_config"
UNREALIZED_CAST = "builtin.unrealized_conversion_cast"
CODEGEN_INDEX_HINT = "iree_codegen.index_hint"
CODEGEN_LOAD_FROM_BUFFER = "iree_codegen.load_from_buffer"
CODEGEN_PASS_PIPELINE = "iree_codegen.pass_pipeline"
TUNING_SPEC = "iree_codegen.tuning_spec_with_default_entrypoint"
TUNING_SPEC_ENTRY = "iree_codegen.tuning_spec_entrypoint"
CODEGEN_TUNING_SPEC_BYTECODE = "iree_codegen.tuning_spec_mlirbc"
CODEGEN_STORE_TO_BUFFER = "iree_codegen.store_to_buffer"
CODEGEN_YIELD = "iree_codegen.yield"

# iree_encoding
ENCODING_SET_ENCODING = "iree_encoding.set_encoding"
ENCODING_UNSET_ENCODING = "iree_encoding.unset_encoding"

# iree_linalg_ext
LINALG_EXT_ARG_COMPARE = "iree_linalg_ext.arg_compare"
LINALG_EXT_ATTENTION = "iree_linalg_ext.attention"
LINALG_EXT_FFT = "iree_linalg_ext.fft"
LINALG_EXT_GATHER = "iree_linalg_ext.gather"
LINALG_EXT_INDEX = "iree_linalg_ext.index"
LINALG_EXT_ONLINE_ATTENTION = "iree_linalg_ext.online_attention"
LINALG_EXT_SCAN = "iree_linalg_ext.scan"
LINALG_EXT_SCATTER = "iree_linalg_ext.scatter"
LINALG_EXT_SORT = "iree_linalg_ext.sort"
LINALG_EXT_TOPK = "iree_linalg_ext.topk"
LINALG_EXT_TOPK_V2 = "iree_linalg_ext.topk_v2"
LINALG_EXT_WINOGRAD_FILTER_TRANSFORM = "iree_linalg_ext.winograd.filter_transform"
LINALG_EXT_WINOGRAD_INPUT_TRANSFORM = "iree_linalg_ext.winograd.input_transform"
LINALG_EXT_WINOGRAD_OUTPUT_TRANSFORM = "iree_linalg_ext.winograd.output_transform"
LINALG_EXT_YIELD = "iree_linalg_ext.yield"

# iree_tensor_ext
TENSOR_EXT_BITCAST = "iree_tensor_ext.bitcast"
TENSOR_EXT_COMPUTE_BARRIER_END = "iree_tensor_ext.compute_barrier.end"
TENSOR_EXT_COMPUTE_BARRIER_START = "iree_tensor_ext.compute_barrier.start"
TENSOR_EXT_DISPATCH_TENSOR = "!iree_tensor_ext.dispatch.tensor"
"""The type of a resource as a kernel sees it: `<readonly:tensor<4xf32>>` and the like follow."""
TENSOR_EXT_DISPATCH_TENSOR_LOAD = "iree_tensor_ext.dispatch.tensor.load"
TENSOR_EXT_DISPATCH_TENSOR_STORE = "iree_tensor_ext.dispatch.tensor.store"
TENSOR_EXT_DISPATCH_WORKLOAD_ORDINAL = "iree_tensor_ext.dispatch.workload.ordinal"

# stream
STREAM_ASYNC_CONCURRENT = "stream.async.concurrent"
STREAM_ASYNC_EXECUTE = "stream.async.execute"
STREAM_BINDING = "!stream.binding"
"""The type of a kernel's argument for a resource."""
STREAM_BINDING_SUBSPAN = "stream.binding.subspan"
STREAM_CMD_CONCURRENT = "stream.cmd.concurrent"
STREAM_CMD_COPY = "stream.cmd.copy"
STREAM_CMD_DISCARD = "stream.cmd.discard"
STREAM_CMD_DISPATCH = "stream.cmd.dispatch"
STREAM_CMD_EXECUTE = "stream.cmd.execute"
STREAM_CMD_FILL = "stream.cmd.fill"
STREAM_CMD_FLUSH = "stream.cmd.flush"
STREAM_CMD_INVALIDATE = "stream.cmd.invalidate"
STREAM_CMD_SERIAL = "stream.cmd.serial"
STREAM_EXECUTABLE = "stream.executable"
STREAM_RESOURCE_ALLOCA = "stream.resource.alloca"
STREAM_RESOURCE_DEALLOCA = "stream.resource.dealloca"
STREAM_RESOURCE_PACK = "stream.resource.pack"
STREAM_RESOURCE_SUBVIEW = "stream.resource.subview"
STREAM_TENSOR_EXPORT = "stream.tensor.export"
STREAM_TENSOR_IMPORT = "stream.tensor.import"
STREAM_TIMEPOINT_AWAIT = "stream.timepoint.await"
STREAM_TIMEPOINT_IMMEDIATE = "stream.timepoint.immediate"
STREAM_TIMEPOINT_JOIN = "stream.timepoint.join"

# util
UTIL_ALIGN_IDENTITY = "util.align_identity"
UTIL_ASSERT = "util.assert"
UTIL_ASSUME_INT = "util.assume.int"
UTIL_ASSUME_NARROW = "util.assume.narrow"
UTIL_CALL = "util.call"
UTIL_FUNC = "util.func"
UTIL_GLOBAL = "util.global"
UTIL_GLOBAL_ADDRESS = "util.global.address"
UTIL_GLOBAL_LOAD = "util.global.load"
UTIL_GLOBAL_LOAD_INDIRECT = "util.global.load.indirect"
UTIL_GLOBAL_STORE = "util.global.store"
UTIL_GLOBAL_STORE_INDIRECT = "util.global.store.indirect"
UTIL_INITIALIZER = "util.initializer"
UTIL_NULL = "util.null"
UTIL_NUMERIC_OPTIONAL_NARROW = "util.numeric.optional_narrow"
UTIL_OPTIMIZATION_BARRIER = "util.optimization_barrier"
UTIL_PREPROCESSING_PIPELINE = "util.preprocessing_pipeline"
UTIL_RETURN = "util.return"
UTIL_UNFOLDABLE_CONSTANT = "util.unfoldable_constant"

# vm
VM_BITS_TO_FLOAT = "vm.bitcast.i32.f32"
VM_BR = "vm.br"
VM_CMP_NZ_REF = "vm.cmp.nz.ref"
VM_COND_BR = "vm.cond_br"
VM_CONST_REF_ZERO = "vm.const.ref.zero"
VM_DISCARD_REFS = "vm.discard.refs"
VM_EXTEND = "vm.ext.i32.i64.u"
VM_FLOAT_TO_BITS = "vm.bitcast.f32.i32"
VM_FUNC = "vm.func"
VM_MODULE = "vm.module"
VM_RODATA = "vm.rodata"
VM_SELECT_REF = "vm.select.ref"
VM_TRUNCATE = "vm.trunc.i64.i32"

# How names of related ops, and of the ops of a dialect, begin
LINALG_EXT_OPS = "iree_linalg_ext."
TENSOR_EXT_OPS = "iree_tensor_ext."
FLOW_DISPATCH_OPS = "flow.dispatch."
FLOW_TENSOR_OPS = "flow.tensor."
FLOW_OPS = "flow."
STREAM_CMD_OPS = "stream.cmd."
HAL_OPS = "hal."
STREAM_OPS = "stream."
STREAM_COMMANDS = "stream.cmd."
UTIL_OPS = "util."

DIALECTS = (
    "check",
    "flow",
    "hal",
    "hal_inline",
    "hal_loader",
    "io_parameters",
    "iree_codegen",
    "iree_cpu",
    "iree_encoding",
    "iree_gpu",
    "iree_linalg_ext",
    "iree_map",
    "iree_pcf",
    "iree_tensor_ext",
    "iree_vector_ext",
    "stream",
    "util",
    "vm",
    "vmvx",
)
"""IREE's dialects."""

# Types without a class in the Python bindings, as their text begins
BUFFER_TYPE = "!hal.buffer"
BUFFER_VIEW_TYPE = "!hal.buffer_view"
RESOURCE_TYPE = "!stream.resource<"
DEVICE_TYPE = "!hal.device"
TIMEPOINT_TYPE = "!stream.timepoint"
VM_REF_TYPE = "!vm.ref<"

# Dialects and attributes that are known by name only
FRONT_END_DIALECTS = (
    "torch",
    "torch_c",
    "stablehlo",
    "chlo",
    "vhlo",
    "mhlo",
    "tosa",
    "ml_program",
    "tm_tensor",
    "iree_input",
)
"""Dialects that are gone after `INPUT_CONVERTED_AT`."""

RECORDED_ONCE = "once"
"""On stream.cmd.execute: its command buffer is not kept for other calls."""

OPERAND_REGISTERS, RESULT_REGISTERS, REMAPPED_REGISTERS, BLOCK_REGISTERS = (
    "operand_registers",
    "result_registers",
    "remap_registers",
    "block_registers",
)
"""On an op of an annotated VM module, by operand and by result; on a branch, by successor; and on the first op of a block, by argument: r1 is
a reference, R1 one that is moved out of its register, i1 an integer."""

GPU_ATTRIBUTES = (
    b"lowering_config",
    b"compilation_info",
    b"translation_info",
    b"decomposition_config",
    b"iree_gpu",
)
"""Attributes of tensor ops that choose a code generation; llvm-cpu refuses those that were made for a GPU."""

GPU_DIALECTS = ("#iree_gpu.",)

DEVICE_GLOBAL_ATTRIBUTE = "#hal.device.target<"
"""What IREE's device assignment leaves in a module for each device, with its executable targets inside."""

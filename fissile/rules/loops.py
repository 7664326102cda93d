"""Findings about loops as IREE schedules and runs them on the host: part of FIS1xx."""

from fissile.effect import Effect

from .input import COMPILE
from .rule import define
from .shown import Shown

define(
    "FIS171",
    "loop-start",
    "a loop starts with a tensor that other ops use as well, and IREE rejects its own schedule",
    "A loop (scf.for, scf.while, stablehlo.while) has a computed tensor as its initial value, and an op after the loop "
    "uses that tensor, too, or another one that the same dispatch computes: an iteration with a residual, a random-number generator, a solver. IREE stops as it forms "
    "command buffers: `circular dependency: input operation uses partition output`.",
    "IREE 3.13 puts an op into the command buffer of an op that uses its result, even if that command buffer waits "
    "for a loop that starts with the result (partitionStreamableOpsReference).",
    "fissile copies the tensor before the loop, behind a barrier (`fissile-finish-before-loops`): it is computed first, and "
    "the host waits for it once. No number changes.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y) -> tensor<8x8xf32> {
    %b = linalg.matmul ins(%a, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %b : tensor<8x8xf32>
  }
  %s = linalg.matmul ins(%y, %r : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}
""",
        """\
func.func @f(%x: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  %start = util.optimization_barrier %y : tensor<8x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> tensor<8x8xf32> {
    %b = linalg.matmul ins(%a, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %b : tensor<8x8xf32>
  }
  %s = linalg.matmul ins(%y, %r : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}
""",
    ),
)
define(
    "FIS172",
    "loop-storage",
    "a loop passes its tensors on to each other, and IREE rejects their storage classes",
    "A loop starts with constants (zeros, a table) and with arguments or computed tensors, and an iteration hands one to "
    "the place of another: a swap of two states, a history of the last values. IREE stops: `'scf.for' op along control "
    "flow edge … successor operand type #2 '!stream.resource<constant>' should match successor input type #2 "
    "'!stream.resource<external>'`.",
    "IREE 3.13 derives the storage class of each of a loop's tensors from where it comes (RefineUsage). Where they "
    "change places, the classes contradict each other.",
    "fissile copies the initial values of loops that are no constants (`fissile-copy-before-loops`). No number changes.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %k, %b = %x, %c = %x) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    %d = arith.addi %a, %c : tensor<4xi32>
    scf.yield %b, %a, %d : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}
""",
        """\
func.func @f(%x: tensor<4xi32>, %k: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %k, %b = %x, %c = %x) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    %d = arith.addi %a, %c : tensor<4xi32>
    scf.yield %b, %a, %d : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}
""",
    ),
)
define(
    "FIS173",
    "lost-reference",
    "a call will fail, or not wait: a loop or a branch takes a buffer that is needed once more, and IREE's VM loses it",
    "A branch of the host program passes the same buffer, or the same fence, to two arguments of a block, or passes one that is read later "
    "as well: a loop that starts with one tensor in two places, two results of one iteration. IREE's VM may leave an argument empty, or "
    "overwrite what is read later. An empty "
    "buffer ends the call (`binding table slot requires a buffer but none was provided`, `OUT_OF_RANGE; indirect buffer "
    "reference`); an empty fence is one that nobody waits for, and the numbers may be wrong.",
    "IREE 3.13 moves a reference out of its register at its last use in a branch, although another argument of the block "
    "lives in that very register (remapSuccessorRegisters leaves out moves from a register to itself), or gives an argument the register of "
    "what is passed for it on one path. Whether it does depends on how registers are allocated: fissile follows the registers of the "
    "compiled module, and reports only what will be lost.",
    "fissile passes a reference of its own (`fissile-separate-branch-operands`): two instructions of the "
    "VM for each. No number changes.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y, %b = %y, %c = %y, %d = %y) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    %s = arith.addi %d, %x : tensor<4xi32>
    scf.yield %d, %c, %s, %b : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}
""",
        """\
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>, %z: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %x, %d = %y) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    %s = arith.addi %d, %z : tensor<4xi32>
    scf.yield %d, %c, %s, %b : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}
""",
    ),
)
define(
    "FIS174",
    "while-operand",
    "a while loop passes on fewer or more tensors than it starts with, and IREE rejects the loop",
    "A while loop starts with a tensor that only its condition reads: an error or a residual that the body computes anew. "
    "IREE stops: `'scf.while' op along control flow edge from Operation scf.condition to Region #1: region branch point has "
    "2 operands, but region successor needs 4 inputs`. Or its condition passes on what the loop does not start with, a sum or a flag that the "
    "body computes anew and the condition tests: IREE stops with that error, crashes, or runs out of memory.",
    "The canonicaliser removes the tensor from what the condition passes on to the body. IREE 3.13 then converts the body's "
    "arguments by the types that the loop starts with (ConvertToStream), and the two differ. Where the first value of a tensor is known, "
    "the first condition is as well, and nothing of the loop uses that value: the canonicaliser has the loop start without it.",
    "fissile passes the tensor on (`fissile-pass-on-while-operands`), and a barrier keeps it there; a loop that passes on more starts with "
    "zeros for that. No number changes.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 50 : i32
  %r:2 = scf.while (%a = %x, %e = %y) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
    %first = tensor.extract %e[%c0] : tensor<4xi32>
    %less = arith.cmpi slt, %first, %limit : i32
    scf.condition(%less) %a, %e : tensor<4xi32>, tensor<4xi32>
  } do {
  ^bb0(%a: tensor<4xi32>, %e: tensor<4xi32>):
    %b = arith.muli %a, %y : tensor<4xi32>
    %f = arith.addi %b, %a : tensor<4xi32>
    scf.yield %b, %f : tensor<4xi32>, tensor<4xi32>
  }
  return %r#0 : tensor<4xi32>
}
""",
        """\
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 50 : i32
  %r:2 = scf.while (%a = %x, %e = %y) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
    %first = tensor.extract %e[%c0] : tensor<4xi32>
    %less = arith.cmpi slt, %first, %limit : i32
    scf.condition(%less) %a, %e : tensor<4xi32>, tensor<4xi32>
  } do {
  ^bb0(%a: tensor<4xi32>, %e: tensor<4xi32>):
    %kept = util.optimization_barrier %e : tensor<4xi32>
    %b = arith.muli %a, %y : tensor<4xi32>
    %f = arith.addi %b, %a : tensor<4xi32>
    scf.yield %b, %f : tensor<4xi32>, tensor<4xi32>
  }
  return %r#0 : tensor<4xi32>
}
""",
    ),
)
define(
    "FIS176",
    "unknown-size",
    "the size of a loop's or a branch's result is known at run time only, and IREE rejects the program",
    "A loop or a branch has a tensor of dynamic size as its result, and the size may be another one than before: the loop yields a tensor "
    "from outside, exchanges two, or has a loop inside of it that computes the tensor. The program then uses the size, as most ops "
    "do. Or the tensor comes from `util.optimization_barrier` (JAX: `jax.lax.optimization_barrier`, `jax.checkpoint`). IREE stops: "
    "`'tensor.dim' op unexpected during shape cleanup`.",
    "IREE 3.13 carries the sizes of tensors beside them as operands. It resolves `tensor.dim` of such a result only where each iteration "
    "keeps the size of one loop's tensor (CleanupTensorShapes rejects what is left).",
    "fissile adds the sizes to what loops and branches pass on (`fissile-pass-sizes-on`). No number changes, and sizes that stay the same "
    "are folded again.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<?xi32>, %y: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?xi32>, tensor<?xi32>) {
    scf.yield %b, %a : tensor<?xi32>, tensor<?xi32>
  }
  %s = arith.addi %r#0, %r#0 : tensor<?xi32>
  return %s : tensor<?xi32>
}
""",
        """\
func.func @f(%x: tensor<?xi32>, %y: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?xi32>, tensor<?xi32>) {
    %c = arith.addi %a, %b : tensor<?xi32>
    scf.yield %c, %b : tensor<?xi32>, tensor<?xi32>
  }
  %s = arith.addi %r#0, %r#0 : tensor<?xi32>
  return %s : tensor<?xi32>
}
""",
    ),
)
define(
    "FIS178",
    "call-kept-apart",
    "IREE rejects a call of a function that it is not to inline",
    "A private function is marked `noinline`, and its tensors come from other places in one call than in another, or in the function: "
    "constants, arguments, tensors of a loop. Or the size of its result is known at run time only. IREE stops: `'util.call' op function "
    "type mismatch`, or `'tensor.dim' op unexpected during shape cleanup`.",
    "IREE 3.13 gives each tensor a storage class and sizes by where it comes from (RefineUsage, ExpandTensorShapes), and does not do so across "
    "calls in loops and branches.",
    "fissile has IREE inline the function (`fissile-inline-calls`). No number changes.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
func.func private @twice(%a: tensor<?xi32>) -> tensor<?xi32> attributes {noinline} {
  %d = arith.addi %a, %a : tensor<?xi32>
  return %d : tensor<?xi32>
}
func.func @f(%x: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xi32>) {
    %s = func.call @twice(%a) : (tensor<?xi32>) -> tensor<?xi32>
    scf.yield %s : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}
""",
        """\
func.func private @twice(%a: tensor<?xi32>) -> tensor<?xi32> {
  %d = arith.addi %a, %a : tensor<?xi32>
  return %d : tensor<?xi32>
}
func.func @f(%x: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xi32>) {
    %s = func.call @twice(%a) : (tensor<?xi32>) -> tensor<?xi32>
    scf.yield %s : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}
""",
    ),
)
define(
    "FIS175",
    "replayed-copy",
    "the numbers may be wrong from the second call on: the Vulkan runtime replays copies of an earlier call",
    "A function on Vulkan copies tensors of the call (arguments, results, intermediate tensors) in a command buffer of several copies, with no "
    "dispatch and no fill: a concatenation, an element that the host reads, in a loop for example. The first call is right. A later one copies "
    "from and to the buffers of the first: the numbers are those of the earlier call, and memory that belongs to other tensors is "
    "overwritten.",
    "IREE 3.13 records a command buffer once and passes the buffers of each call in a table. Its Vulkan runtime keeps the recorded "
    "commands, and records them again only if an address that a dispatch or a fill uses has changed.",
    "fissile has such command buffers recorded for every call (`fissile-record-once`). Without a new module: "
    "`iree-run-module --vulkan_cached_bda_replay_instances=0`.",
    effect=Effect.UNPROVED,
    shown=Shown(
        "fissile compile in.mlir --target=vulkan -o out.vmfb",
        """\
func.func private @first(%x: tensor<4xi32>) -> i32 attributes {noinline} {
  %c0 = arith.constant 0 : index
  %e = tensor.extract %x[%c0] : tensor<4xi32>
  return %e : i32
}
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<2xi32> {
  %a = call @first(%x) : (tensor<4xi32>) -> i32
  %b = call @first(%y) : (tensor<4xi32>) -> i32
  %r = tensor.from_elements %a, %b : tensor<2xi32>
  return %r : tensor<2xi32>
}
""",
        """\
func.func private @first(%x: tensor<4xi32>, %c0: index) -> i32 attributes {noinline} {
  %e = tensor.extract %x[%c0] : tensor<4xi32>
  return %e : i32
}
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>, %i: index) -> tensor<2xi32> {
  %a = call @first(%x, %i) : (tensor<4xi32>, index) -> i32
  %b = call @first(%y, %i) : (tensor<4xi32>, index) -> i32
  %r = tensor.from_elements %a, %b : tensor<2xi32>
  return %r : tensor<2xi32>
}
""",
    ),
)
define(
    "FIS197",
    "overwritten-number",
    "the numbers will be wrong: a loop on the host begins with another number",
    "A loop or branch of the host program passes numbers of 32 and of 64 bits to one block: the index that a loop counts, and an i32 or f32 that "
    "it carries. One of them, often the index, begins with what belongs to the other: the loop runs too few rounds, or reads elsewhere.",
    "IREE 3.13's VM keeps 64 bits in two registers of 32. Where a branch moves several values, it orders the moves by their first registers "
    "alone, and one move overwrites the second register of a value that is moved later. Whether it does depends on how registers are "
    "allocated: fissile follows the registers of the compiled module, and reports only what is overwritten.",
    "fissile passes the numbers of 32 bits as integers of 64 bits (`fissile-separate-branch-operands`): one or two instructions of the VM for "
    "each. No number changes but those that would be wrong.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%first: i32, %rounds: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %end = arith.index_cast %rounds : i32 to index
  %r:2 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %first, %sum = %zero) -> (i32, i32) {
    %s = arith.addi %sum, %a : i32
    scf.yield %zero, %s : i32, i32
  }
  return %r#1 : i32
}
""",
        """\
func.func @f(%first: i64, %rounds: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %end = arith.index_cast %rounds : i64 to index
  %r:2 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %first, %sum = %zero) -> (i64, i64) {
    %s = arith.addi %sum, %a : i64
    scf.yield %zero, %s : i64, i64
  }
  return %r#1 : i64
}
""",
    ),
)
define(
    "FIS198",
    "lost-offset",
    "the numbers will be wrong: a loop begins with another part of the buffer",
    "A loop on the host passes on a tensor of sizes that the call decides. IREE packs the tensor into one buffer with others, and the loop "
    "reads what lies at the beginning of that buffer: a sequence model begins with other states.",
    "IREE 3.13 passes a buffer and an offset for each tensor: the aligned size of what lies in front of it. Its analysis of integer ranges has none "
    "for `util.align` of a size that could overflow 64 bits (two unknown dimensions), and takes it for a value that never arrives: "
    "where a loop goes on with a tensor at offset 0, IREE makes 0 of both. fissile reports the offsets that become another one in a copy.",
    "fissile puts the tensor behind a barrier, in a buffer of its own (`fissile-hold-passed-tensors`): the host waits for it once for each loop.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<?x?xf32>, %one: index, %n: index) -> tensor<?x?xf32> {
  %a = arith.addf %x, %x : tensor<?x?xf32>
  %b = arith.mulf %a, %x : tensor<?x?xf32>
  %r = scf.for %i = %one to %n step %one iter_args(%v = %b) -> tensor<?x?xf32> {
    %w = arith.addf %v, %a : tensor<?x?xf32>
    scf.yield %w : tensor<?x?xf32>
  }
  %z = arith.mulf %r, %a : tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
""",
        """\
func.func @f(%x: tensor<?x4xf32>, %one: index, %n: index) -> tensor<?x4xf32> {
  %a = arith.addf %x, %x : tensor<?x4xf32>
  %b = arith.mulf %a, %x : tensor<?x4xf32>
  %r = scf.for %i = %one to %n step %one iter_args(%v = %b) -> tensor<?x4xf32> {
    %w = arith.addf %v, %a : tensor<?x4xf32>
    scf.yield %w : tensor<?x4xf32>
  }
  %z = arith.mulf %r, %a : tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}
""",
    ),
)

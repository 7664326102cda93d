"""Findings about what IREE makes of a program on the host: part of FIS1xx."""

from fissile.effect import Effect

from .input import COMPILE
from .rule import define
from .shown import Shown

define(
    "FIS137",
    "growing-loop",
    "the numbers will be wrong: a loop's tensor grows but keeps its first size",
    "An scf.for carries a tensor of dynamic size that starts with a constant size, and its body yields another size "
    "(a tensor.concat with the previous value, for example). The result has the initial size: it is empty if that "
    "is 0.",
    "MLIR's canonicaliser gives the loop the static type of its initial tensor and casts the yielded value to it "
    "(ForOpTensorCastFolder), as if no iteration changed the size.",
    "fissile hides the constant from the canonicaliser (`fissile-hide-sizes`), so every iteration computes the "
    "size.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<2xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 0 : index
  %empty = tensor.empty(%size) : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %empty) -> (tensor<?xf32>) {
    %longer = tensor.concat dim(0) %a, %x : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
    scf.yield %longer : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
""",
        """\
func.func @f(%x: tensor<2xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = util.optimization_barrier %c0 : index
  %empty = tensor.empty(%size) : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %empty) -> (tensor<?xf32>) {
    %longer = tensor.concat dim(0) %a, %x : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
    scf.yield %longer : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
""",
    ),
)
define(
    "FIS161",
    "demoted-boundary",
    "the numbers will be wrong: the caller's elements have another type than the program's",
    "A function of a torch or ONNX program takes or returns f64 or complex<f64>. By default IREE computes f64 as f32, and leaves the type of "
    "the caller's buffer: it takes each half of an f64 argument for an f32, and a result has half of its bytes, so that the call ends with "
    "OUT_OF_RANGE. The same holds for its other flags that demote or promote the types of the input.",
    "These front ends give functions IREE's ABI before the types change (IREE 3.13): hal.tensor.import then imports a tensor of f64 as one of "
    "f32, without a conversion. In other programs the function's own type changes, and a call with f64 is refused.",
    "fissile converts arguments and results (`fissile-convert-boundaries`). The program is computed in f32 all the same, unless IREE's flag "
    "is turned off, which the finding names. For a target with SPIR-V, which may have no f64, it converts in integers of 32 bits.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[4],f64>) -> !torch.vtensor<[4],f64> {
  %r = torch.aten.exp %x : !torch.vtensor<[4],f64> -> !torch.vtensor<[4],f64>
  return %r : !torch.vtensor<[4],f64>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %r = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
    ),
)
define(
    "FIS146",
    "unstable-sort",
    "the numbers will be wrong if keys are equal: a stable sort is not stable",
    "A stablehlo.sort with is_stable = true (jnp.argsort, jnp.sort of several arrays, lax.sort) sorts several tensors by a strict order such as LT. "
    "Where keys are equal, IREE exchanges what belongs to them, so that the indices of an argsort, for example, are in another order. "
    "A chlo.top_k (lax.top_k) puts the lower index first, and IREE the higher one.",
    "IREE's import drops is_stable, and its sort exchanges two neighbours unless the comparator holds of them: a strict order does not hold of equal "
    "keys. A comparator such as LE does, and such a sort is stable. IREE's topk inserts a value before those that are equal to it.",
    "fissile makes the comparator hold of equal keys, and lets a topk read its rows from the end (`fissile-stable-sorts`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%keys: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %numbers = stablehlo.iota dim = 0 : tensor<8xi32>
  %r:2 = "stablehlo.sort"(%keys, %numbers) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  return %r#0, %r#1 : tensor<8xi32>, tensor<8xi32>
}
""",
        """\
func.func @f(%keys: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %numbers = stablehlo.iota dim = 0 : tensor<8xi32>
  %r:2 = "stablehlo.sort"(%keys, %numbers) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  return %r#0, %r#1 : tensor<8xi32>, tensor<8xi32>
}
""",
    ),
)
define(
    "FIS145",
    "recursive-function",
    "IREE does not end on a function that calls itself",
    "A function that a public one reaches calls itself, directly or through others. With tensors or with scalars: no target matters, "
    "and the compile takes a processor until it is ended.",
    "IREE 3.13's analyses of a whole program follow calls from function to function and do not notice that they have been there. "
    "FoldGlobals, in global optimisation, is the first that does not end.",
    "Write the recursion as a loop: scf.for with a count, or scf.while with a condition. A recursion in a branch that is never taken, or in a function that "
    "nobody calls, is removed by IREE before, and is no finding.",
    effect=Effect.ENDLESS,
    shown=Shown(
        COMPILE,
        """\
func.func @power(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %done = arith.cmpi sle, %n, %c0 : i32
  %r = scf.if %done -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    %less = arith.subi %n, %c1 : i32
    %rest = func.call @power(%x, %less) : (tensor<4xf32>, i32) -> tensor<4xf32>
    %y = arith.mulf %rest, %x : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
""",
        """\
func.func @power(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xf32>) : i32 {
    %y = arith.mulf %a, %x : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS148",
    "narrow-host-integer",
    "the numbers may be wrong: the host computes a narrow integer with 32 bits",
    "An op outside of every dispatch computes with integers of less than 32 bits (i8, i16, i4, i1): a comparison, a minimum or a "
    "maximum, a division, a shift, arith.index_cast, the bounds of an scf.for. A dynamic slice at an i8 offset is an example. A negative number "
    "counts as a large positive one, and what an addition carries out of the width counts as well. On every target.",
    "IREE 3.13's VM has integers of 32 and 64 bits. It takes the op on 32 bits for the narrow one and neither extends the operands nor "
    "cuts the result off. 67 of 137 small functions are wrong (`tests/py/compile/test_narrow_host_integers.py`).",
    "fissile extends the operands, computes with i32 and truncates the result (`fissile-widen-host-integers`). A program whose "
    "numbers are never negative was right, and is changed as well where nothing proves it.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<8xf32>, %at: tensor<1xi8>) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i8
  %last = arith.constant 7 : i8
  %i = tensor.extract %at[%c0] : tensor<1xi8>
  %low = arith.maxsi %i, %zero : i8
  %high = arith.minsi %low, %last : i8
  %index = arith.index_cast %high : i8 to index
  %r = tensor.extract %x[%index] : tensor<8xf32>
  return %r : f32
}
""",
        """\
func.func @f(%x: tensor<8xf32>, %at: tensor<1xi8>) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %last = arith.constant 7 : i32
  %i = tensor.extract %at[%c0] : tensor<1xi8>
  %wide = arith.extsi %i : i8 to i32
  %low = arith.maxsi %wide, %zero : i32
  %high = arith.minsi %low, %last : i32
  %index = arith.index_cast %high : i32 to index
  %r = tensor.extract %x[%index] : tensor<8xf32>
  return %r : f32
}
""",
    ),
)
define(
    "FIS153",
    "host-float-op",
    "the numbers may be wrong: the host computes an op on floats otherwise than defined",
    "An op outside of every dispatch converts a float to an integer (arith.fptosi, arith.fptoui), takes a remainder (arith.remf), a "
    "maximum or minimum (arith.maximumf, arith.minimumf), or compares (arith.cmpf oge, one, ord, uge). A size or a trip count that a "
    "program computes with floats is an example. On every target.",
    "IREE 3.13's VM rounds to the nearest integer (2.7 is 3), and its remainder may have either sign (5.0 by 3.0 is -1.0). The other ops "
    "are wrong only of NaN and of zeros of two signs. The same ops in a dispatch are right.",
    "fissile writes the op with those that the host computes right (`fissile-rewrite-host-floats`). A program whose numbers have no "
    "fraction and are never NaN was right, and is changed as well where nothing proves it.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: f32) -> i32 {
  %r = arith.fptosi %x : f32 to i32
  return %r : i32
}
""",
        """\
func.func @f(%x: f32) -> i32 {
  %cut = math.floor %x : f32
  %r = arith.fptosi %cut : f32 to i32
  return %r : i32
}
""",
    ),
)
define(
    "FIS183",
    "moved-access",
    "the numbers will be wrong: IREE moves a load or a store of a global across a loop or a branch that accesses the same global",
    "A function loads a global behind a loop or a branch that stores it, or stores it before one that loads or stores it. IREE loads it before "
    "the loop or branch, and stores it behind.",
    "IREE 3.13 moves the loads of a block up and its stores down, as far as the next call (SimplifyGlobalAccesses), and does not look into "
    "the regions of the ops between. Later it submits work of the device together that the host waits for in between, and moves what waits "
    "behind that work, but not the loads behind it (ScheduleExecution): in the bodies of loops and branches, too.",
    "fissile calls an empty function before and behind the loop or branch (`fissile-keep-order`). Where the schedule of the program still has "
    "another order, it calls one wherever the host waits for the device (`fissile-submit-in-order`), and looks at the schedule again: if "
    "that has another order all the same, the finding is an error. Each call costs a submission at most.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
util.global private mutable @count = dense<0> : tensor<4xi32>
func.func @f(%x: tensor<4xi32>, %p: i1) -> tensor<4xi32> {
  scf.if %p {
    %d = arith.addi %x, %x : tensor<4xi32>
    util.global.store %d, @count : tensor<4xi32>
  }
  %r = util.global.load @count : tensor<4xi32>
  return %r : tensor<4xi32>
}
""",
        """\
util.global private mutable @count = dense<0> : tensor<4xi32>
func.func private @order() attributes {noinline} {
  %c = arith.constant true
  %d = util.optimization_barrier %c : i1
  return
}
func.func @f(%x: tensor<4xi32>, %p: i1) -> tensor<4xi32> {
  func.call @order() : () -> ()
  scf.if %p {
    %d = arith.addi %x, %x : tensor<4xi32>
    util.global.store %d, @count : tensor<4xi32>
  }
  func.call @order() : () -> ()
  %r = util.global.load @count : tensor<4xi32>
  return %r : tensor<4xi32>
}
""",
    ),
)
define(
    "FIS184",
    "chained-global",
    "the numbers will be wrong: IREE takes a global for another one, or for a constant, that is stored in it",
    "Every store into a global stores what one other global holds, or one constant. IREE takes the two for one: it forgets what the global "
    "holds before the first store, and what has been stored in the other one since. Or two globals are stored together everywhere but inside "
    "of a loop or a branch: IREE makes one of both, or of one "
    "and a constant, which it refuses then. Or the host waits for a value that is also stored into a global: IREE takes it for what the "
    "global holds at each load behind, whichever store was the last.",
    "IREE 3.13 renames a private global whose stores all come from one other global (FoldGlobals), and makes a global of each constant that is "
    "stored (OutlineConstants). It looks neither at the initial value nor at the order of loads and stores. FuseGlobals does not look into "
    "loops and branches. ElideTimepoints follows what the host waits for through stores to all loads of the global.",
    "fissile makes the global public, which IREE neither renames nor fuses (`fissile-publish-globals`), or puts an optimisation barrier before "
    "what is stored (`fissile-hide-stored-values`). No number changes; the barrier may cost a copy of what is stored.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
util.global private mutable @before = dense<0> : tensor<4xi32>
util.global private mutable @now = dense<7> : tensor<4xi32>
func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  %r = util.global.load @before : tensor<4xi32>
  %n = util.global.load @now : tensor<4xi32>
  util.global.store %n, @before : tensor<4xi32>
  %s = arith.addi %n, %x : tensor<4xi32>
  util.global.store %s, @now : tensor<4xi32>
  return %r : tensor<4xi32>
}
""",
        """\
util.global public mutable @before = dense<0> : tensor<4xi32>
util.global private mutable @now = dense<7> : tensor<4xi32>
func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  %r = util.global.load @before : tensor<4xi32>
  %n = util.global.load @now : tensor<4xi32>
  util.global.store %n, @before : tensor<4xi32>
  %s = arith.addi %n, %x : tensor<4xi32>
  util.global.store %s, @now : tensor<4xi32>
  return %r : tensor<4xi32>
}
""",
    ),
)
define(
    "FIS194",
    "dropped-wait",
    "the numbers may be wrong: a command buffer begins before what it reads is there",
    "A program waits on the host (for an element that decides a branch, for constants), and a command buffer behind it uses what is waited for and other "
    'tensors. It does not wait for those: a call fails now and then with "transient buffer has not been committed", or reads what is not written yet.',
    "IREE 3.13 turns a wait of the host into one of the command buffer (ChainDependentAwaits): the wait takes the place of what "
    "the command buffer waited for before, and is not added to it.",
    "fissile adds the allocation of the storage, and what writes into it, to what the command buffer waits for (`fissile-add-waits`). That is "
    "looked at in a straight line; over the edges of branches it is not.",
    effect=Effect.MAY_BE_WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<?x?xi32>, %y: tensor<?x?xi32>) -> (tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %limit = arith.constant 50 : i32
  %few0 = arith.constant dense<[[4, 1], [0, 2]]> : tensor<2x2xi32>
  %few = tensor.cast %few0 : tensor<2x2xi32> to tensor<?x?xi32>
  %many0 = arith.constant dense<[[0, 4], [7, 7]]> : tensor<2x2xi32>
  %many = tensor.cast %many0 : tensor<2x2xi32> to tensor<?x?xi32>
  %d = arith.subi %many, %y : tensor<?x?xi32>
  %e = tensor.extract %d[%c0, %c1] : tensor<?x?xi32>
  %is_less = arith.cmpi slt, %e, %limit : i32
  %r:2 = scf.if %is_less -> (tensor<?x?xi32>, tensor<?x?xi32>) {
    %l:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %few, %b = %many) -> (tensor<?x?xi32>, tensor<?x?xi32>) {
      %v = arith.maxsi %y, %x : tensor<?x?xi32>
      scf.yield %a, %v : tensor<?x?xi32>, tensor<?x?xi32>
    }
    scf.yield %l#1, %l#0 : tensor<?x?xi32>, tensor<?x?xi32>
  } else {
    scf.yield %y, %many : tensor<?x?xi32>, tensor<?x?xi32>
  }
  %z = arith.muli %x, %r#0 : tensor<?x?xi32>
  return %r#0, %r#1, %z : tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xi32>
}
""",
        """\
func.func @f(%x: tensor<?x?xi32>, %y: tensor<?x?xi32>) -> (tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xi32>) {
  %v = arith.maxsi %y, %x : tensor<?x?xi32>
  %z = arith.muli %x, %v : tensor<?x?xi32>
  return %v, %y, %z : tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xi32>
}
""",
    ),
)
define(
    "FIS215",
    "constant-not-evaluated",
    "IREE cannot evaluate a constant of the program",
    "A part of the program depends on constants alone: a table, weights that are dequantised. IREE computes it while it compiles, and has no code for one "
    "of its ops, or takes the constants in the wrong order: `jit global source initialization order invalid`.",
    "IREE 3.13 compiles these parts for the processor of this machine (ConstEval), whatever the target is, and stops where that fails.",
    "fissile has the device compute them when the module is loaded (`fissile-compute-at-load`), and repairs their code as any other.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
func.func @f() -> (tensor<4xf32>, tensor<4xf32>) {
  %x = stablehlo.constant dense<[(1.0, 0.0), (2.0, 1.0), (3.0, 0.0), (4.0, 2.0)]> : tensor<4xcomplex<f32>>
  %s = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %a = stablehlo.real %s : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %b = stablehlo.imag %s : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
""",
        """\
func.func @f(%x: tensor<4xcomplex<f32>>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %a = stablehlo.real %s : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %b = stablehlo.imag %s : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
""",
    ),
)

"""Findings about tensors that IREE updates, or copies parts of, in place: part of FIS1xx."""

from fissile.effect import Effect

from .input import COMPILE
from .rule import define
from .shown import Shown

define(
    "FIS141",
    "insert-extent",
    "the numbers will be wrong: writing one element also overwrites those that follow it",
    "A tensor.insert outside of every dispatch, or a tensor.from_elements, writes into a tensor of two dimensions "
    "or more. IREE also overwrites the elements that follow, up to a row and more, even past the end of the tensor.",
    "IREE 3.13 turns the op into a fill and computes its length as the position where a 1x1 tile ends in row-major "
    "order: columns + 1 for a matrix (EncodeHostTensors). With static sizes it may be an error instead: `invalid "
    "Write access range`.",
    "fissile writes the element through a one-dimensional view (`fissile-flatten-inserts`), for which the length is "
    "right.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4x8xf32>, %i: index, %j: index) -> tensor<4x8xf32> {
  %c = arith.constant 5.0 : f32
  %r = tensor.insert %c into %x[%i, %j] : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
""",
        """\
func.func @f(%x: tensor<32xf32>, %i: index) -> tensor<32xf32> {
  %c = arith.constant 5.0 : f32
  %r = tensor.insert %c into %x[%i] : tensor<32xf32>
  return %r : tensor<32xf32>
}
""",
    ),
)
define(
    "FIS142",
    "argument-overwritten",
    "the numbers will be wrong: a returned argument has been overwritten",
    "A function returns one of its arguments unchanged and computes another result from the same argument: with "
    "tensor.insert, tensor.insert_slice, a scatter, a sort, or a matmul that accumulates into it. IREE computes "
    "that result in the argument's buffer, so both results are the same. If the argument is not returned, the "
    "results of the call are right, but the caller's buffer still changes.",
    "IREE 3.13 folds the returned value to the incoming buffer, and before an update copies only values that have "
    "another use (MaterializeCopyOnWrite): none is left.",
    "fissile gives the argument another use at the end of the function (`fissile-keep-arguments`), so that IREE "
    "updates a copy.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<8xf32>, %i: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = arith.constant 5.0 : f32
  %s = tensor.insert %c into %x[%i] : tensor<8xf32>
  return %x, %s : tensor<8xf32>, tensor<8xf32>
}
""",
        """\
func.func @f(%x: tensor<8xf32>, %i: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = arith.constant 5.0 : f32
  %s = tensor.insert %c into %x[%i] : tensor<8xf32>
  %same = util.optimization_barrier %x : tensor<8xf32>
  return %same, %s : tensor<8xf32>, tensor<8xf32>
}
""",
    ),
)
define(
    "FIS149",
    "scattered-range",
    "the numbers will be wrong: IREE copies one range of bytes for a part with gaps",
    "A flow.tensor.slice or flow.tensor.update reads or writes a part of a tensor whose elements do not follow each other: "
    "two columns of a matrix, for example. IREE copies as many bytes as the part has, from its first element on.",
    "IREE 3.13 encodes these ops as one copy (EncodeHostTensors). It makes them itself only of parts that lie in one piece, and does not "
    "check those of a program.",
    "fissile turns the op into tensor.extract_slice or tensor.insert_slice (`fissile-copy-slices`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4x8xf32>) -> tensor<2x3xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = flow.tensor.slice %x[%c1, %c1 for %c2, %c3] : tensor<4x8xf32> -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
""",
        """\
func.func @f(%x: tensor<4x8xf32>) -> tensor<2x3xf32> {
  %r = tensor.extract_slice %x[1, 1] [2, 3] [1, 1] : tensor<4x8xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
""",
    ),
)
define(
    "FIS156",
    "late-read",
    "the numbers will be wrong: IREE updates a tensor in place before another op has read it",
    "An op updates a tensor (a scatter, a sort, a slice that is inserted, a sum that begins with the tensor), and an op before it reads the "
    "tensor as it was. IREE updates the tensor in place and runs the reader afterwards, so the reader sees new elements.",
    "IREE 3.13 copies a tensor only if it is used after the update (ElideAsyncCopies). If the update then runs at the same time as another "
    "op, IREE sorts the commands by the values that they depend on (ScheduleConcurrency), and the reader, on which nothing depends, may be "
    "moved behind the update.",
    "fissile uses the tensor once more at the end, so that IREE updates a copy (`fissile-copy-before-updates`). Only a program that IREE "
    "schedules in the wrong order is changed.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%b: tensor<4x2xi32>) -> (tensor<4x2xi32>, tensor<13x5xi32>) {
  %c0 = arith.constant 0 : i32
  %sum = arith.addi %b, %b : tensor<4x2xi32>
  %x = iree_tensor_ext.compute_barrier.start %sum : tensor<4x2xi32> -> tensor<4x2xi32>
  %square = arith.muli %x, %x : tensor<4x2xi32>
  %u = iree_linalg_ext.sort dimension(0) outs(%x : tensor<4x2xi32>) {
  ^bb0(%p: i32, %q: i32):
    %more = arith.cmpi sgt, %p, %q : i32
    iree_linalg_ext.yield %more : i1
  } -> tensor<4x2xi32>
  %v = iree_tensor_ext.compute_barrier.start %u : tensor<4x2xi32> -> tensor<4x2xi32>
  %e = tensor.empty() : tensor<13x5xi32>
  %zero = linalg.fill ins(%c0 : i32) outs(%e : tensor<13x5xi32>) -> tensor<13x5xi32>
  %r = tensor.insert_slice %v into %zero [2, 1] [4, 2] [2, 2] : tensor<4x2xi32> into tensor<13x5xi32>
  return %square, %r : tensor<4x2xi32>, tensor<13x5xi32>
}
""",
        """\
func.func @f(%b: tensor<4x2xi32>) -> (tensor<4x2xi32>, tensor<13x5xi32>) {
  %c0 = arith.constant 0 : i32
  %sum = arith.addi %b, %b : tensor<4x2xi32>
  %x = iree_tensor_ext.compute_barrier.start %sum : tensor<4x2xi32> -> tensor<4x2xi32>
  %square = arith.muli %x, %x : tensor<4x2xi32>
  %u = iree_linalg_ext.sort dimension(0) outs(%x : tensor<4x2xi32>) {
  ^bb0(%p: i32, %q: i32):
    %more = arith.cmpi sgt, %p, %q : i32
    iree_linalg_ext.yield %more : i1
  } -> tensor<4x2xi32>
  %v = iree_tensor_ext.compute_barrier.start %u : tensor<4x2xi32> -> tensor<4x2xi32>
  %e = tensor.empty() : tensor<13x5xi32>
  %zero = linalg.fill ins(%c0 : i32) outs(%e : tensor<13x5xi32>) -> tensor<13x5xi32>
  %r = tensor.insert_slice %v into %zero [2, 1] [4, 2] [2, 2] : tensor<4x2xi32> into tensor<13x5xi32>
  %used = util.optimization_barrier %x : tensor<4x2xi32>
  return %square, %r : tensor<4x2xi32>, tensor<13x5xi32>
}
""",
    ),
)
define(
    "FIS181",
    "remade-tensor",
    "the numbers will be wrong: where a tensor has to be copied, IREE makes it anew, and takes another tensor for it",
    "A tensor is made of sizes and numbers alone (positions 0, 1, … up to an unknown number). Ops update it in place (sorts with their "
    "positions, scatters), and it is used more than once: the updates work on one tensor. Or it is the second result of what makes it, and "
    "updated, or kept in a global because its size is known: IREE takes the first result.",
    "Before an update, and for a global, IREE copies a tensor that is used elsewhere. Where a dispatch without tensors makes it, IREE 3.13 "
    "runs that dispatch again instead, and takes its first result (PropagateCloneableOps). Where it does so twice, common-subexpression "
    "elimination makes one of both.",
    "fissile puts a barrier behind the tensor, so that IREE copies it (`fissile-hold-producers`). Only a program that IREE schedules wrongly "
    "is changed.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%n: i32, %a: tensor<2x1xi32>, %b: tensor<2x1xi32>, %v: tensor<2xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %size = arith.index_castui %n : i32 to index
  %e = tensor.empty(%size) : tensor<?xi32>
  %x = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<?xi32>
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%v, %a : tensor<2xi32>, tensor<2x1xi32>) outs(%x : tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32):
    iree_linalg_ext.yield %p : i32
  } -> tensor<?xi32>
  %s = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%v, %b : tensor<2xi32>, tensor<2x1xi32>) outs(%x : tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32):
    iree_linalg_ext.yield %p : i32
  } -> tensor<?xi32>
  return %r, %s : tensor<?xi32>, tensor<?xi32>
}
""",
        """\
func.func @f(%n: i32, %a: tensor<2x1xi32>, %b: tensor<2x1xi32>, %v: tensor<2xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %size = arith.index_castui %n : i32 to index
  %e = tensor.empty(%size) : tensor<?xi32>
  %x = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<?xi32>
  %held = util.optimization_barrier %x : tensor<?xi32>
  %y = flow.tensor.tie_shape %held : tensor<?xi32>{%size}
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%v, %a : tensor<2xi32>, tensor<2x1xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32):
    iree_linalg_ext.yield %p : i32
  } -> tensor<?xi32>
  %s = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%v, %b : tensor<2xi32>, tensor<2x1xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32):
    iree_linalg_ext.yield %p : i32
  } -> tensor<?xi32>
  return %r, %s : tensor<?xi32>, tensor<?xi32>
}
""",
    ),
)
define(
    "FIS182",
    "shared-buffer",
    "the numbers may be wrong: IREE updates a tensor in place that may be the same buffer as another one",
    "An op updates a result of a loop or a branch, or a tensor that is carried through a loop. On some path it is the same tensor as another "
    "result, or as one that was made before, which is read as well: `scf.yield %a, %a`, a loop without iterations.",
    "Before an update IREE 3.13 copies a tensor that has another use (MaterializeCopyOnWrite). Each result of a loop or a branch is a tensor of "
    "its own there.",
    "fissile uses the tensor once more at the end, so that IREE updates a copy (`fissile-copy-passed-tensors`). Only a program in which IREE "
    "copies nothing is changed.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>, %p: i1) -> (tensor<4xi32>, tensor<4xi32>) {
  %r:2 = scf.if %p -> (tensor<4xi32>, tensor<4xi32>) {
    %a = arith.addi %x, %y : tensor<4xi32>
    scf.yield %a, %a : tensor<4xi32>, tensor<4xi32>
  } else {
    %a = arith.muli %x, %y : tensor<4xi32>
    %b = arith.subi %x, %y : tensor<4xi32>
    scf.yield %a, %b : tensor<4xi32>, tensor<4xi32>
  }
  %s = iree_linalg_ext.sort dimension(0) outs(%r#1 : tensor<4xi32>) {
  ^bb0(%k: i32, %l: i32):
    %more = arith.cmpi sgt, %k, %l : i32
    iree_linalg_ext.yield %more : i1
  } -> tensor<4xi32>
  return %r#0, %s : tensor<4xi32>, tensor<4xi32>
}
""",
        """\
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>, %p: i1) -> (tensor<4xi32>, tensor<4xi32>) {
  %r:2 = scf.if %p -> (tensor<4xi32>, tensor<4xi32>) {
    %a = arith.addi %x, %y : tensor<4xi32>
    scf.yield %a, %a : tensor<4xi32>, tensor<4xi32>
  } else {
    %a = arith.muli %x, %y : tensor<4xi32>
    %b = arith.subi %x, %y : tensor<4xi32>
    scf.yield %a, %b : tensor<4xi32>, tensor<4xi32>
  }
  %s = iree_linalg_ext.sort dimension(0) outs(%r#1 : tensor<4xi32>) {
  ^bb0(%k: i32, %l: i32):
    %more = arith.cmpi sgt, %k, %l : i32
    iree_linalg_ext.yield %more : i1
  } -> tensor<4xi32>
  %used = util.optimization_barrier %r#1 : tensor<4xi32>
  return %r#0, %s : tensor<4xi32>, tensor<4xi32>
}
""",
    ),
)
define(
    "FIS177",
    "overlapping-copy",
    "a call fails, or the numbers are wrong: IREE copies a part of a tensor inside of one buffer, to a range that overlaps it",
    "A part of a tensor is written to another place of the same tensor: a window that moves on, a cache whose rows are shifted "
    "(JAX: `x.at[1:].set(x[:-1])`), a row that is copied at an index. IREE's runtime ends the call: `source and target ranges overlap within "
    "the same buffer`. Where it does not look, and where a dispatch copies a part with gaps (columns), the numbers are those of a copy that reads what it "
    "has written.",
    "IREE 3.13 joins the slice and the update to one copy (stream.async.copy). If the tensor is used by nothing else, its buffer is the "
    "source and the target of it. Of a part with gaps it makes a dispatch (`slow_memcpy`) whose result is tied to its operand.",
    "fissile puts a barrier between the two, and IREE copies the part to storage of its own first (`fissile-hold-slices`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%d: tensor<80x16xi32>) -> tensor<80x16xi32> {
  %s = tensor.extract_slice %d[0, 0] [79, 16] [1, 1] : tensor<80x16xi32> to tensor<79x16xi32>
  %t = tensor.insert_slice %s into %d[1, 0] [79, 16] [1, 1] : tensor<79x16xi32> into tensor<80x16xi32>
  return %t : tensor<80x16xi32>
}
""",
        """\
func.func @f(%d: tensor<80x16xi32>) -> tensor<80x16xi32> {
  %s = tensor.extract_slice %d[0, 0] [40, 16] [1, 1] : tensor<80x16xi32> to tensor<40x16xi32>
  %t = tensor.insert_slice %s into %d[40, 0] [40, 16] [1, 1] : tensor<40x16xi32> into tensor<80x16xi32>
  return %t : tensor<80x16xi32>
}
""",
    ),
)
define(
    "FIS224",
    "update-waits-for-itself",
    "a loop updates a global in place, and IREE rejects the program",
    "A loop loads a global, writes a part of it and stores it again, and does nothing else with it: a cache that takes one row in each round, a function "
    "with such an update that is called in a loop. IREE stops with `operand #4 does not dominate this use`.",
    "IREE 3.13 drops waits that it takes for superfluous (ElideTimepoints). In such a loop it takes the end of the update for its beginning.",
    "fissile puts an optimisation barrier before what is stored (`fissile-hide-stored-values`): the update is still done in place. By hand: carry "
    "the tensor through the loop, and store it behind.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
util.global private mutable @cache = dense<0.0> : tensor<4x4xf32>
func.func @f(%row: tensor<1x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %cache = util.global.load @cache : tensor<4x4xf32>
    %r = tensor.insert_slice %row into %cache[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
    util.global.store %r, @cache : tensor<4x4xf32>
  }
  return
}
func.func @g() -> tensor<4x4xf32> {
  %cache = util.global.load @cache : tensor<4x4xf32>
  return %cache : tensor<4x4xf32>
}
""",
        """\
util.global private mutable @cache = dense<0.0> : tensor<4x4xf32>
func.func @f(%row: tensor<1x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cache = util.global.load @cache : tensor<4x4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %cache) -> tensor<4x4xf32> {
    %b = tensor.insert_slice %row into %a[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
    scf.yield %b : tensor<4x4xf32>
  }
  util.global.store %r, @cache : tensor<4x4xf32>
  return
}
func.func @g() -> tensor<4x4xf32> {
  %cache = util.global.load @cache : tensor<4x4xf32>
  return %cache : tensor<4x4xf32>
}
""",
    ),
)

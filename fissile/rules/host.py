"""Findings about tensors that IREE's host code updates: part of FIS1xx."""

from fissile.effect import Effect

from .input import COMPILE
from .rule import define
from .shown import Shown

define(
    "FIS137",
    "growing-loop",
    "the numbers will be wrong: a loop's tensor grows, and keeps its first size",
    "An scf.for carries a tensor of dynamic size that begins with a constant size, and its body yields another size: a tensor.concat "
    "with what came before, for example. The result has the size of the beginning: none of the elements, where that is 0.",
    "MLIR's canonicaliser gives the loop the static type of its first tensor and casts to it what the body yields "
    "(ForOpTensorCastFolder), as if no iteration changed the size.",
    "fissile hides the constant from the canonicaliser (`fissile-hide-sizes`); the size is computed in every iteration then.",
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
    "FIS141",
    "insert-extent",
    "the numbers will be wrong: a single element is written, and those that follow it too",
    "A tensor.insert outside of every dispatch, or a tensor.from_elements, writes into a tensor of two dimensions or more. IREE "
    "overwrites the elements behind the one as well, up to a row and more, and the end of the tensor does not stop it.",
    "IREE 3.13 makes a fill of it and takes for its length the position where a tile of 1x1 ends in row-major order: columns + 1 "
    "for a matrix (EncodeHostTensors). Sizes that it knows may end as an error instead: `invalid Write access range`.",
    "fissile writes the element through a view of one dimension (`fissile-flatten-inserts`), where the length is right.",
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
    "A function returns one of its arguments as it came, and another result is made from the same argument: by tensor.insert, "
    "tensor.insert_slice, a scatter, a sort, or a matmul that adds to it. IREE computes the other result in the argument's buffer, so "
    "both are the same. Without such a return the numbers of the call are right, and the caller's buffer changes all the same.",
    "IREE 3.13 folds the return to the buffer that came in, and copies before an update only what has another use "
    "(MaterializeCopyOnWrite): none is left.",
    "fissile gives the argument another use at the function's end (`fissile-keep-arguments`); IREE then updates a copy.",
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

"""Findings about tensors that IREE's host code updates: part of FIS1xx."""

from fissile.effect import Effect

from .rule import define

define(
    "FIS137",
    "growing-loop",
    "the numbers will be wrong: a loop's tensor grows, and keeps its first size",
    "An scf.for carries a tensor of dynamic size that begins with a constant size, and its body yields another size: a tensor.concat "
    "with what came before, for example. The result has the size of the beginning: none of the elements, where that is 0.",
    "MLIR's canonicaliser gives the loop the static type of its first tensor and casts to it what the body yields "
    "(ForOpTensorCastFolder), as if no iteration changed the size.",
    "fissile hides the constant from the canonicaliser (`fissile-hide-sizes`); the size is computed in every iteration then.",
    example="scf.for … iter_args(%a = %empty) with tensor.concat dim(0) %a, %piece, %empty = tensor.empty(%c0) : tensor<?xf32>",
    repaired="the same, with tensor.empty of util.optimization_barrier %c0",
    effect=Effect.WRONG,
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
    example="tensor.insert %c into %x[%i, %j] : tensor<4x8xf32>: 9 elements are written",
    repaired="tensor.insert %c into %flat[%i * 8 + %j] : tensor<32xf32>, and reshapes around it",
    effect=Effect.WRONG,
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
    example="%s = tensor.insert %c into %x[%i] : tensor<8xf32>, then return %x, %s",
    repaired="the same, with util.optimization_barrier %x in front of the return",
    effect=Effect.WRONG,
)

"""Findings about results that are written to the buffers of arguments: part of FIS2xx."""

from fissile.effect import Effect

from .input import COMPILE
from .rule import define
from .shown import Shown

define(
    "FIS229",
    "donated-argument",
    "the numbers may be wrong: a result is written to the buffer of an argument that is still read",
    "A result has the buffer of an argument as its storage: `tf.aliasing_output`, as JAX writes it for `jit(..., donate_argnums=...)`, or "
    "`iree.abi.output`. Another op reads the argument, and nothing makes it come first; or the op itself reads more of the argument than the "
    "element that it writes (a matrix product). Training steps with momentum or Adam are such programs: the new state is written to the old "
    "one, from which the new parameters are computed as well.",
    "IREE 3.13 imports the buffer twice, for the argument and for the result, takes both for one tensor, and has the op write straight into it "
    "(EmplaceAllocations). Its own description of hal.tensor.alias is that of a copy.",
    "fissile has everything read a copy of the argument, which the result is made to depend on (`fissile-copy-donated`). A result that overwrites its argument element by element, with all other reads before it, is left in place.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %n = stablehlo.add %w, %w : tensor<4xf32>
  %b = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n, %b : tensor<4xf32>, tensor<4xf32>
}
""",
        """\
func.func @f(%w: tensor<4xf32>, %x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %n = stablehlo.add %w, %w : tensor<4xf32>
  %b = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n, %b : tensor<4xf32>, tensor<4xf32>
}
""",
    ),
)

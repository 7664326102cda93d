"""Findings about two answers that do not agree: limits, predictions, numbers, baselines, reduced programs. FIS120 to FIS152."""

from fissile.effect import Effect

from .rule import define
from .shown import Shown

FIFTH_POWER = """\
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %second = arith.mulf %x, %x : tensor<8xf32>
  %fourth = arith.mulf %second, %second : tensor<8xf32>
  %r = arith.mulf %fourth, %x : tensor<8xf32>
  return %r : tensor<8xf32>
}
"""
DEQUANTISED_APART = """\
func.func @f(%x: tensor<1x8x18x18xi8>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x16x16xf32> {
  %wide = arith.sitofp %x : tensor<1x8x18x18xi8> to tensor<1x8x18x18xf32>
  %kept = util.optimization_barrier %wide : tensor<1x8x18x18xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%kept, %w : tensor<1x8x18x18xf32>, tensor<8x8x3x3xf32>) outs(%start : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  return %r : tensor<1x8x16x16xf32>
}
"""
"""The dequantise is a dispatch of its own: the convolution keeps less on chip than with it in its body."""

define(
    "FIS120",
    "limit-disagreement",
    "two sources give different limits for one target",
    "IREE's table and the vendor's document, or the device itself, disagree.",
    "IREE's table is maintained by hand.",
    "fissile uses the smaller limit and says so.",
    effect=Effect.UNPROVED,
    shown=Shown(
        "fissile check in.mlir --target=sm_86",
        """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
        repaired_command="fissile check in.mlir --target=sm_86 --budget=101376",
    ),
)
define(
    "FIS121",
    "prediction-mismatch",
    "prediction and code generation disagree about a dispatch's bytes",
    "The model of IREE's tiling predicts another sum than IREE's code generation allocates.",
    "IREE changed, or a pattern the model does not know.",
    "The probe's number is the true one. Please report the program.",
    effect=Effect.UNPROVED,
    shown=Shown(
        "fissile check in.mlir --target=gfx942 --probe=all",
        """\
func.func @f(%x: tensor<1x8x18x18xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x18x18xf32>, tensor<8x8x3x3xf32>) outs(%start : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  return %r : tensor<1x8x16x16xf32>
}
""",
        setting="fissile's prediction leaves out a buffer",
    ),
)
define(
    "FIS130",
    "numerics-differ",
    "two programs that must agree compute different numbers",
    "The repaired program, or the program on a target, differs from its reference by more than the tolerance, and NumPy's "
    "evaluation of the program, where there is one, does not agree with it either.",
    "A wrong repair or a miscompile; the finding names the output, the place, the size of the difference and who is wrong.",
    "Do not ship the module. `--repair=off` shows what stock IREE says.",
    effect=Effect.WRONG,
    shown=Shown(
        "fissile verify in.mlir other.mlir --on=local-task",
        """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
        files=(
            (
                "other.mlir",
                """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.mulf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
            ),
        ),
        repaired_files=(
            (
                "other.mlir",
                """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
            ),
        ),
    ),
)
define(
    "FIS131",
    "not-verified",
    "a program could not be run, so nothing was compared",
    "A runtime refused the module, stopped with an error, or did not end in time; or no data can be made for an argument's type.",
    "See the message: the runtime's own, or the type.",
    "Name a runtime that can run it (`--on`), or smaller inputs.",
    shown=Shown(
        "fissile verify in.mlir --on=local-task",
        """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %never = arith.constant false
  cf.assert %never, "stops here"
  return %x : tensor<4xf32>
}
""",
        """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS132",
    "witness-differs",
    "NumPy's evaluation of the program does not agree with the reference",
    "Two builds of one program were run and compared, and a third evaluation, by NumPy, was consulted. Either the checked program "
    "agrees with it and the reference does not, or the two builds agree with each other and not with it.",
    "A miscompile of the reference (stock llvm-cpu, usually: IREE 3.13 makes NaN of `math.powf` of a negative number, for example), or an "
    "error in fissile's own evaluation of an op.",
    "Look at the sentence: it names the sides and how far each is off. Give the truth with `--expected` or `--reference` to decide.",
    shown=Shown(
        "fissile verify in.mlir other.mlir --on=local-task",
        """\
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %five = arith.constant dense<5.0> : tensor<8xf32>
  %r = math.powf %x, %five : tensor<8xf32>
  return %r : tensor<8xf32>
}
""",
        FIFTH_POWER,
        files=(("other.mlir", FIFTH_POWER),),
    ),
)
define(
    "FIS150",
    "baseline-grown",
    "a dispatch needs more on-chip memory than the baseline says",
    "`fissile check --baseline FILE` compares the bytes of every dispatch with those that were recorded, and one grew.",
    "A change of the model, of the target or of IREE fused or tiled it in another way.",
    "Look at the ledger of that dispatch (`--format=json` lists every buffer). `--update-baseline` accepts the new bytes.",
    shown=Shown(
        "python -m fissile check before.mlir --target=gfx942 --baseline=base.json --update-baseline\nfissile check in.mlir --target=gfx942 --baseline=base.json",
        """\
func.func @f(%x: tensor<1x8x18x18xi8>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x16x16xf32> {
  %wide = arith.sitofp %x : tensor<1x8x18x18xi8> to tensor<1x8x18x18xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%wide, %w : tensor<1x8x18x18xf32>, tensor<8x8x3x3xf32>) outs(%start : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  return %r : tensor<1x8x16x16xf32>
}
""",
        DEQUANTISED_APART,
        files=(("before.mlir", DEQUANTISED_APART),),
    ),
)
define(
    "FIS151",
    "baseline-incomplete",
    "the baseline has nothing to compare with",
    "A target or a dispatch of this run is not in the baseline file.",
    "The baseline was written for other targets, or the model has a new dispatch.",
    "`--update-baseline` adds what is missing.",
    shown=Shown(
        "python -m fissile check in.mlir --target=gfx942 --baseline=base.json --update-baseline\nfissile check in.mlir --target=gfx1100 --baseline=base.json",
        """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
        repaired_command="python -m fissile check in.mlir --target=gfx942 --baseline=base.json --update-baseline\nfissile check in.mlir --target=gfx942 --baseline=base.json",
    ),
)
define(
    "FIS152",
    "not-reduced-alike",
    "a reduced program does not fail as its program does",
    "`fissile reduce` found no smaller program in which the same dispatch fails: with the same rule, the same root and the same message of "
    "IREE's, shown by a compile with stock IREE. The program that comes nearest was written.",
    "IREE fuses and tiles by what stands around a dispatch; without it, another reason comes first, or none.",
    "Name another failing dispatch (`--dispatch=NAME`), or reduce the program by hand. What the message names is the difference.",
    effect=Effect.UNPROVED,
    shown=Shown(
        "fissile reduce in.mlir --target=gfx942 -o reduced.mlir",
        """\
func.func @f(%p: tensor<60xi32>, %q: tensor<60xi32>) -> tensor<60xi32> {
  %e = tensor.empty() : tensor<60xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%p, %q : tensor<60xi32>, tensor<60xi32>) outs(%e : tensor<60xi32>) {
  ^bb0(%x: i32, %y: i32, %_: i32):
    %power = math.ipowi %x, %y : i32
    linalg.yield %power : i32
  } -> tensor<60xi32>
  return %r : tensor<60xi32>
}
""",
        setting="the iree-compile that is installed builds the reduced program",
    ),
)

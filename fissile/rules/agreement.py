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
    "IREE's table disagrees with the vendor's document or with the device itself.",
    "IREE's table is maintained by hand.",
    "fissile uses the smaller limit and reports both.",
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
    "the predicted bytes of a dispatch differ from those of code generation",
    "fissile's model of IREE's tiling predicts another total than IREE's code generation allocates.",
    "IREE changed, or the model does not know the pattern.",
    "The number from code generation is the right one. Please report the program.",
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
UNSIGNED = """\
func.func @f(%a: tensor<64x128xi8>, %b: tensor<128x64xi8>) -> tensor<64x64xi32> {{
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<64x64xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<64x64xi32>) -> tensor<64x64xi32>
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%a, %b : tensor<64x128xi8>, tensor<128x64xi8>) outs(%start : tensor<64x64xi32>) {{
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %p = arith.{extension} %x : i8 to i32
    %q = arith.extsi %y : i8 to i32
    %product = arith.muli %p, %q : i32
    %s = arith.addi %sum, %product : i32
    linalg.yield %s : i32
  }} -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}}
"""
"""A sum of products of 8-bit integers, of which `extension` decides whether the first have a sign."""
define(
    "FIS130",
    "numerics-differ",
    "two programs that must agree compute different numbers",
    "The repaired program, or the program on a target, differs from its reference by more than the tolerance, and "
    "NumPy's evaluation of the program, if there is one, disagrees with it too.",
    "A repair is wrong or the compiler miscompiled the program. The finding names the output, the position, the "
    "size of the difference and the side that is wrong.",
    "Do not ship the module. `--repair=off` shows what stock IREE reports.",
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
    "A runtime rejected the module, stopped with an error or exceeded its time limit; its run-time checks refuse every random input; or fissile cannot make data "
    "for the type of an argument.",
    "The finding quotes the runtime's message or names the type.",
    "Name a runtime that can run the program (`--on`), or use smaller inputs.",
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
    "NumPy's evaluation of the program disagrees with the reference",
    "Two builds of one program were run and compared, and NumPy evaluated the program as a third opinion. Either "
    "the checked program agrees with NumPy and the reference does not, or the two builds agree with each other and "
    "not with NumPy.",
    "The reference is usually miscompiled (stock llvm-cpu: IREE 3.13 returns NaN for `math.powf` of a negative "
    "number, for example), or fissile's own evaluation of an op is wrong.",
    "The headline names the sides and how far each is off. To decide, pass the expected values with `--expected` or "
    "`--reference`.",
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
    "a dispatch needs more on-chip memory than the baseline records",
    "`fissile check --baseline FILE` compares the bytes of every dispatch with the recorded ones, and one grew.",
    "The model, the target or IREE changed, and the dispatch is fused or tiled differently.",
    "Look at the byte table of that dispatch (`--format=json` lists every buffer). `--update-baseline` accepts the "
    "new bytes.",
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
    "The baseline was recorded for other targets, or the model has a new dispatch.",
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
    "a reduced program fails in another way",
    "`fissile reduce` found no smaller program in which the same dispatch fails with the same rule, the same root "
    "op and the same IREE message when stock IREE compiles it. It wrote the program that comes closest.",
    "IREE fuses and tiles a dispatch depending on its surroundings. Without them, it fails for another reason or "
    "not at all.",
    "Name another failing dispatch (`--dispatch=NAME`), or reduce the program by hand. The message names the "
    "difference.",
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
define(
    "FIS189",
    "simulation-differs",
    "the code of a dispatch, run thread by thread in NumPy, does not compute what the dispatch says",
    "`fissile check --simulate` runs the code that IREE generates for a GPU, for all threads of its workgroups, in NumPy, and compares what it "
    "writes with the witness's evaluation of the same dispatch. They differ by more than the tolerance; or a thread reads or writes "
    "outside of its buffers, reads what other threads wrote since the last barrier, or does not reach a barrier that others wait at.",
    "IREE miscompiles the dispatch, or the simulation or the witness is wrong about an op. The simulation takes the code before its conversion to "
    "LLVM or SPIR-V: what comes later is not seen.",
    "Where another finding names the same dispatch, `fissile compile` repairs it. Otherwise run the program on the device (`fissile verify`), and "
    "report it to us: `fissile reduce` makes it small.",
    effect=Effect.WRONG,
    shown=Shown(
        "fissile check in.mlir --target=gfx942 --simulate",
        UNSIGNED.format(extension="extui"),
        UNSIGNED.format(extension="extsi"),
    ),
)

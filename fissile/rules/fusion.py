"""Findings about fusion, on-chip memory and code generation: FIS1xx."""

from fissile.effect import Effect

from .rule import define

define(
    "FIS114",
    "remedy-does-not-apply",
    "a remedy does not apply to an op that it was given",
    "A pass was given an op, by its index in `ops`, that it cannot change; or `fissile-pack-narrow-storage` met an op on narrow "
    "elements of which it knows no 32-bit form. The finding names the pass's reason.",
    "The index is of another op: indices count the linalg ops of the module in program order. Or the op has a form that the pass does "
    "not know: its loops, its sizes, the ops in its body (`fissile passes NAME` describes what it takes).",
    "Leave the op out of `ops`, or choose another remedy (docs/remedies.md). For narrow elements: cast to 32 bits in front of the op, "
    "or compile for a target with narrow storage (`--match-device=vulkan`).",
)
define(
    "FIS136",
    "packed-booleans",
    "the target has no booleans of a bit each",
    "A tensor of i1 with the encoding `#iree_encoding.packed_storage` is read or written on a GPU target. IREE stops as it configures the "
    "dispatch, with an unresolved materialization.",
    "IREE 3.13 drops the encoding on AMD and NVIDIA targets and finds no way between the two types.",
    "fissile reads and writes such tensors as 32-bit words. By hand: leave the encoding out, so that a boolean takes a byte.",
    example="a mask of type tensor<64xi1, #iree_encoding.packed_storage>, target gfx942",
    repaired="tensor<64xi1>",
    effect=Effect.REFUSED,
)
define(
    "FIS119",
    "unread-border",
    "a window at one position does not read all of its operand, and IREE refuses the op",
    "A convolution or pooling whose result is one pixel wide leaves the last rows of its input unread (3x3 with stride 2 on 4x4), and "
    "IREE stops in global optimisation: `inferred input/output operand #1 has shape's dimension #1 to be 4, but found 3`.",
    "IREE 3.13 drops loops that run once without making the operand smaller, and its own verifier refuses the result. Small "
    "inputs to strided networks do this, on every target.",
    "fissile slices the unread border off before (`fissile-trim-borders`); no number changes.",
    effect=Effect.REFUSED,
)
define(
    "FIS120",
    "limit-disagreement",
    "two sources give different limits for one target",
    "IREE's table and the vendor's document, or the device itself, disagree.",
    "IREE's table is maintained by hand.",
    "fissile uses the smaller limit and says so.",
    effect=Effect.UNPROVED,
)
define(
    "FIS121",
    "prediction-mismatch",
    "prediction and code generation disagree about a dispatch's bytes",
    "The model of IREE's tiling predicts another sum than IREE's code generation allocates.",
    "IREE changed, or a pattern the model does not know.",
    "The probe's number is the true one. Please report the program.",
    effect=Effect.UNPROVED,
)
define(
    "FIS122",
    "not-in-the-spec",
    "the requested tuning spec does not carry every repair",
    "`--emit-tuning-spec=FILE` writes the repairs that are lowering configurations, as a tuning spec that "
    "stock iree-compile takes beside the program as it is. Here some repairs, or all, are changes of the program.",
    "A configuration chooses tiles and a pipeline for one dispatch's root; it cannot split a dispatch or change a type. IREE 3.13 "
    "reads specs for AMD and NVIDIA GPUs, not for SPIR-V.",
    "`--emit-mlir=FILE` writes the repaired module, which stock iree-compile takes from global optimisation on.",
)
define(
    "FIS126",
    "host-float",
    "a float of less than 32 bits is kept on the host, which IREE's VM has no type for",
    "A scalar f16, bf16 or 8-bit float stands outside of every dispatch, and IREE stops at the end (`failed to legalize operation "
    "'util.initializer'`), on every target: an fp16 network whose pooling pads with -3.4e38, for example.",
    "MLIR folds no cast of a constant that rounds or overflows; IREE 3.13 hoists it into a global, and the VM has 32 bits and more.",
    "fissile does the cast and puts the constant where it is used (`fissile-fold-host-floats`); no number changes.",
    example="arith.truncf %c : f32 to f16 of -3.40282347E+38, padding a tensor",
    repaired="arith.constant 0xFC00 : f16",
    effect=Effect.REFUSED,
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
)
define(
    "FIS131",
    "not-verified",
    "a program could not be run, so nothing was compared",
    "A runtime refused the module, stopped with an error, or did not end in time; or no data can be made for an argument's type.",
    "See the message: the runtime's own, or the type.",
    "Name a runtime that can run it (`--on`), or smaller inputs.",
)
define(
    "FIS132",
    "witness-differs",
    "NumPy's evaluation of the program does not agree with the reference",
    "Two builds of one program were run and compared, and a third evaluation, by NumPy, was consulted. Either the checked program "
    "agrees with it and the reference does not, or the two builds agree with each other and not with it.",
    "A miscompile of the reference (stock llvm-cpu, usually), or an error in fissile's own evaluation of an op.",
    "Look at the sentence: it names the sides and how far each is off. Give the truth with `--expected` or `--reference` to decide.",
)
define(
    "FIS140",
    "recomputed-producer",
    "a producer is computed again for every use",
    "An elementwise producer (dequantise, most of all) stands in the body of a convolution or reduction that reads each of its "
    "elements many times. The program is right, and 5 to 30 times slower than it could be on llvm-cpu.",
    "IREE folds the producer into its consumer's loop nest: it is evaluated per multiply-and-add, and the body is no "
    "plain contraction any more for the vectoriser.",
    "`--fusion=tune` places a fusion boundary behind the producer.",
    effect=Effect.SLOW,
)
define(
    "FIS150",
    "baseline-grown",
    "a dispatch needs more on-chip memory than the baseline says",
    "`fissile check --baseline FILE` compares the bytes of every dispatch with those that were recorded, and one grew.",
    "A change of the model, of the target or of IREE fused or tiled it in another way.",
    "Look at the ledger of that dispatch (`--format=json` lists every buffer). `--update-baseline` accepts the new bytes.",
)
define(
    "FIS151",
    "baseline-incomplete",
    "the baseline has nothing to compare with",
    "A target or a dispatch of this run is not in the baseline file.",
    "The baseline was written for other targets, or the model has a new dispatch.",
    "`--update-baseline` adds what is missing.",
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
)

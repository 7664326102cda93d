"""Findings about fusion, on-chip memory and code generation: FIS1xx."""

from fissile.effect import Effect

from .rule import define

define(
    "FIS101",
    "workgroup-memory",
    "a dispatch needs more workgroup memory than its target has",
    "The fused ops of one dispatch keep tiles, or whole tensors, in workgroup (shared) memory, and the sum exceeds "
    "what one workgroup of the target may use. IREE refuses the program.",
    "Producers that only extend bits (dequantise, f16 extend) are always cloned into the dispatch of their consumer. "
    "Where the consumer reads them by a pattern that no tile reaches (a convolution's window), the producer's whole "
    "result is materialised on chip.",
    "fissile places a fusion boundary on the smallest set of producers that makes the dispatch fit "
    "(`fissile-place-boundaries`): their results go through global memory and are read back by tile.",
    example="linalg.generic (i8 -> f32) feeding linalg.conv_2d_nchw_fchw, target gfx942 or default Vulkan",
    repaired="%xd, then `fissile.boundary %xd`, then the convolution",
    effect=Effect.REFUSED,
)
define(
    "FIS102",
    "stack-memory",
    "a dispatch needs more stack than its CPU target allows",
    "The fused ops keep temporaries on the CPU stack, and the sum exceeds IREE's limit (32768 bytes by default).",
    "The same fusion as FIS101; the CPU backend puts the tiles on the stack.",
    "fissile places a fusion boundary. Do not switch the check off: the program would overrun its stack.",
    effect=Effect.REFUSED,
)
define(
    "FIS103",
    "not-distributed",
    "code generation cannot distribute a dispatch over the target's threads",
    "IREE stops with `failed to distribute`.",
    "The chosen vector-distribution strategy has no layout for one of the ops.",
    "Another code generation pipeline or a boundary; f16 accumulation needs f32 accumulators.",
    effect=Effect.REFUSED,
)
define(
    "FIS104",
    "not-legalized",
    "code generation cannot legalise an op of a dispatch for this target",
    "IREE stops with `failed to legalize operation`, for example `vector.bitcast` on SPIR-V, or with `types are not supported on`.",
    "The target lacks the type (8- or 16-bit storage, bf16, 8-bit floats on CUDA and most AMD targets, storing 4-bit integers) or the "
    "vector shape that the op needs.",
    "fissile reads and writes 8-bit floats and types below a byte by their bits (`fissile-pack-narrow-storage`). On Vulkan, name the "
    "device's real features (`--match-device=vulkan`).",
    effect=Effect.REFUSED,
)
define(
    "FIS105",
    "unbounded-memory",
    "a dispatch allocates on-chip memory of a size that is not known",
    "An on-chip allocation has a dynamic size, so it cannot be proved to fit.",
    "A dynamic dimension reaches an allocation that no tile bounds.",
    "Give the dimension an upper bound (`util.assume.int`), or let fissile cut the producer off.",
    effect=Effect.REFUSED,
)
define(
    "FIS106",
    "dispatch-timeout",
    "code generation of a dispatch does not end within its time limit",
    "The compiler is still busy on one dispatch after `--dispatch-timeout` seconds, by the clock and of processor time: a busy "
    "machine does not make a compile endless.",
    "Very large vectors are unrolled element by element.",
    "A boundary or smaller tiles; raise the limit where the dispatch is merely slow.",
    effect=Effect.ENDLESS,
)
define(
    "FIS107",
    "compiler-crash",
    "the compiler crashed",
    "The compiler process ended by a signal. Nothing was written.",
    "A bug in IREE, or memory ran out.",
    "The reproducer that is named shows it again with stock tools; report it upstream.",
    effect=Effect.CRASHES,
)
define(
    "FIS108",
    "codegen-failed",
    "code generation of a dispatch fails",
    "IREE's code generation stops on one dispatch with an error that no other rule recognises.",
    "See IREE's own message, which is repeated unchanged.",
    "A fusion boundary often helps; fissile tries it and says so where it does.",
    effect=Effect.REFUSED,
)
define(
    "FIS109",
    "unrolled-code",
    "a dispatch is unrolled over its narrow elements, and compiles for seconds to minutes",
    "A matmul or convolution on Vulkan or Metal has producers fused into it that extend narrow elements (a dequantisation), and one "
    "thread reads hundreds of them or more. The module compiles, if IREE ends, in seconds to minutes, and the driver takes longer still: "
    "lavapipe 5 s for 256 elements and 32 s for 768 (`bench/speed/unrolled_cost.py`).",
    "IREE 3.13 tiles the sum, but not the producers with it: a thread holds their values for all of a sum, and reads each narrow element "
    "by itself, in straight-line code.",
    "fissile keeps such producers out of the dispatch.",
    effect=Effect.SLOW,
)
define(
    "FIS110",
    "narrow-storage",
    "narrow elements on a target without narrow storage",
    "A dispatch loads or stores elements of 16 bits or fewer, and the target attribute says that its storage buffers hold 32-bit words "
    "only. The finding says which of three it is: IREE refuses the dispatch (its message is quoted), the numbers will be wrong, or "
    "they may be. A dispatch whose numbers are right has no finding and stays as it is.",
    "IREE 3.13 emulates such elements by 32-bit words. It addresses each element of a vector of i8 or i16, and each f16, as if it had 4 "
    "bytes (213586 of 215296 values of one dequantise on default Vulkan are wrong). It binds the bytes of a tensor and no more, so a last "
    "word that they do not fill reads as 0, and writes to it are lost: i8 tensors of 13 elements, i2 tensors of 8. It computes narrow "
    "integers in 32-bit registers and leaves their upper bits undefined: a shift to the right or a comparison after an addition reads "
    "them (*may*). Integers that are read and written one by one, in whole words, are right.",
    "fissile packs such buffers into 32-bit words and computes in 32 bits in between. Where an op cannot be packed (FIS114), "
    "`--match-device=vulkan` compiles for the device that is present; or name a target with 8-bit storage.",
    example="func.func @f(%x: tensor<13xi8>) -> tensor<13xi32>, --iree-hal-target-device=vulkan (no --iree-vulkan-target)",
    repaired="the same, with --match-device=vulkan",
    effect=Effect.WRONG,
)
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
    "FIS135",
    "sub-byte-extension",
    "the numbers will be wrong: an integer below a byte is extended with its neighbours' bits",
    "A dispatch on Vulkan or Metal reads elements of i2 or i4 and extends them to i8 or i16, compares, divides or shifts them, or indexes by "
    "them, on a target that computes in bytes. Each value has bits of the elements beside it. The module compiles and runs.",
    "IREE 3.13 shifts the byte of such an element and truncates it; the conversion to SPIR-V makes the truncation a conversion to i32 and "
    "the extension one back to i8, and neither clears the upper bits. An extension to 32 bits does.",
    "fissile extends each element to 32 bits, masks it there and computes in 32 bits; the buffers stay as they are. By hand: extend to "
    "i32, shift to the left and back, then truncate. Without the shifts IREE folds the two conversions into the one that goes wrong.",
    example="arith.extui %x : i4 to i8 in a body over tensor<8xi4>, target Vulkan with 8-bit storage",
    repaired="arith.extui %x : i4 to i32, arith.shli and arith.shrui by 28, then arith.trunci to i8",
    effect=Effect.WRONG,
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

"""The only catalogue of finding codes. `fissile explain CODE` prints a rule as a manual page.

FIS0xx input and driver, FIS1xx fusion and on-chip memory, FIS2xx storage, FIS3xx lifetime,
FIS4xx legality, FIS5xx order of passes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """``what`` happens, ``why`` it happens, ``remedy``: what fissile does or what a person can do."""

    code: str
    name: str
    title: str
    what: str
    why: str
    remedy: str
    example: str = ""
    repaired: str = ""


RULES: dict[str, Rule] = {}


def _rule(*args: str, **kwargs: str) -> None:
    rule = Rule(*args, **kwargs)
    if rule.code in RULES:
        raise ValueError(f"duplicate rule {rule.code}: {RULES[rule.code].name} and {rule.name}")
    RULES[rule.code] = rule


_rule(
    "FIS001", "input-rejected", "the input is not a module that IREE accepts",
    "The file does not parse as MLIR, does not verify, or IREE's own diagnostics end the compile before code generation.",
    "A syntax error, an op of a dialect that IREE does not know, or types that do not agree.",
    "Mend the place that is named. `iree-opt FILE` shows the same error without the rest of the compile.",
)
_rule(
    "FIS002", "compile-failed", "IREE refuses the module for a reason that has no repair here",
    "IREE's pipeline stopped with an error that none of the other rules recognises.",
    "See IREE's own message, which is repeated unchanged.",
    "Report it upstream with the reproducer; `fissile compile --fissile-save-temps=DIR` keeps the IR before the failing phase.",
)
_rule(
    "FIS003", "no-functions", "the module has no functions",
    "Nothing can be called, and IREE has nothing to translate.",
    "An empty file, a module whose functions are all private and unused, or the wrong file.",
    "Give a module with at least one public function.",
)
_rule(
    "FIS004",
    "no-target",
    "the compile names no target that IREE knows",
    "IREE has no device to generate code for, or no description of the one that is named.",
    "--iree-hal-target-device is missing, or the architecture is unknown to this version (sm_90 in IREE 3.13).",
    "`fissile targets` lists the targets that IREE 3.13 describes; name one of them.",
)
_rule(
    "FIS101", "workgroup-memory", "a dispatch needs more workgroup memory than its target has",
    "The fused ops of one dispatch keep tiles, or whole tensors, in workgroup (shared) memory, and the sum exceeds "
    "what one workgroup of the target may use. IREE refuses the program.",
    "Producers that only extend bits (dequantise, f16 extend) are always cloned into the dispatch of their consumer. "
    "Where the consumer reads them by a pattern that no tile reaches (a convolution's window), the producer's whole "
    "result is materialised on chip.",
    "fissile places a fusion boundary on the smallest set of producers that makes the dispatch fit "
    "(`fissile-place-boundaries`): their results go through global memory and are read back by tile.",
    example="linalg.generic (i8 -> f32) feeding linalg.conv_2d_nchw_fchw, target gfx942 or default Vulkan",
    repaired="%xd, then `fissile.boundary %xd`, then the convolution",
)
_rule(
    "FIS102", "stack-memory", "a dispatch needs more stack than its CPU target allows",
    "The fused ops keep temporaries on the CPU stack, and the sum exceeds IREE's limit (32768 bytes by default).",
    "The same fusion as FIS101; the CPU backend puts the tiles on the stack.",
    "fissile places a fusion boundary. Do not switch the check off: the program would overrun its stack.",
)
_rule(
    "FIS103", "not-distributed", "code generation cannot distribute a dispatch over the target's threads",
    "IREE stops with `failed to distribute`.",
    "The chosen vector-distribution strategy has no layout for one of the ops.",
    "Another code generation pipeline or a boundary; f16 accumulation needs f32 accumulators.",
)
_rule(
    "FIS104", "not-legalized", "code generation cannot legalise an op of a dispatch for this target",
    "IREE stops with `failed to legalize operation`, for example `vector.bitcast` on SPIR-V, or with `types are not supported on`.",
    "The target lacks the type (8- or 16-bit storage, bf16, 8-bit floats on CUDA and most AMD targets, storing 4-bit integers) or the "
    "vector shape that the op needs.",
    "fissile reads and writes 8-bit floats and types below a byte by their bits (`fissile-pack-narrow-storage`). On Vulkan, name the "
    "device's real features (`--fissile-match-device=vulkan`).",
)
_rule(
    "FIS105", "unbounded-memory", "a dispatch allocates on-chip memory of a size that is not known",
    "An on-chip allocation has a dynamic size, so it cannot be proved to fit.",
    "A dynamic dimension reaches an allocation that no tile bounds.",
    "Give the dimension an upper bound (`util.assume.int`), or let fissile cut the producer off.",
)
_rule(
    "FIS106", "dispatch-timeout", "code generation of a dispatch does not end within its time limit",
    "The compiler is still busy on one dispatch after `--dispatch-timeout` seconds, by the clock and of processor time: a busy "
    "machine does not make a compile endless.",
    "Very large vectors are unrolled element by element.",
    "A boundary or smaller tiles; raise the limit where the dispatch is merely slow.",
)
_rule(
    "FIS107", "compiler-crash", "the compiler crashed",
    "The compiler process ended by a signal. Nothing was written.",
    "A bug in IREE, or memory ran out.",
    "The reproducer that is named shows it again with stock tools; report it upstream.",
)
_rule(
    "FIS108", "codegen-failed", "code generation of a dispatch fails",
    "IREE's code generation stops on one dispatch with an error that no other rule recognises.",
    "See IREE's own message, which is repeated unchanged.",
    "A fusion boundary often helps; fissile tries it and says so where it does.",
)
_rule(
    "FIS109", "unrolled-code", "a dispatch is unrolled over its narrow elements, and compiles for seconds to minutes",
    "A matmul or convolution on Vulkan or Metal has producers fused into it that extend narrow elements (a dequantisation), and one "
    "thread reads hundreds of them or more. The module compiles, if IREE ends, in seconds to minutes, and the driver takes longer still: "
    "lavapipe 5 s for 256 elements and 32 s for 768 (`bench/unrolled_cost.py`).",
    "IREE 3.13 tiles the sum, but not the producers with it: a thread holds their values for all of a sum, and reads each narrow element "
    "by itself, in straight-line code.",
    "fissile keeps such producers out of the dispatch.",
)
_rule(
    "FIS110", "narrow-storage", "the numbers will be wrong: narrow loads on a target without narrow storage",
    "A dispatch loads or stores 8- or 16-bit elements, and the target attribute says that its storage buffers hold "
    "32-bit words only. The module compiles, runs and gives wrong values.",
    "IREE 3.13 emulates narrow storage by 32-bit words; for vectorised i8 and f16 accesses it computes the wrong "
    "address (measured: 213586 of 215296 values of one dequantise are wrong on default Vulkan).",
    "`--fissile-match-device=vulkan` compiles for the device that is present; or name a target with 8-bit storage.",
    example="an i8 tensor argument, --iree-hal-target-device=vulkan (no --iree-vulkan-target)",
    repaired="the same, with --fissile-match-device=vulkan",
)
_rule(
    "FIS111", "workgroup-race", "threads share a buffer without a barrier",
    "A fused producer writes its tile to workgroup memory, or a fill the start of a sum to the result's storage, and other threads "
    "read it with no barrier between them: the values depend on timing.",
    "IREE 3.13's SPIR-V BaseDistribute pipeline places no gpu.barrier after a fused producer, and gives a fill to threads by the order of "
    "its result's dimensions, whatever the order of the loops that add to it: a depthwise convolution in NCHW layout.",
    "fissile cuts the producer or the fill off by a fusion boundary, so that it is done before the dispatch begins.",
)
_rule(
    "FIS112",
    "misplaced-vectors",
    "the numbers will be wrong: vectors are read or written beside their place",
    "A dispatch reads or writes a slice of a buffer by vectors, and the slice begins between two vectors. The vectors land at the "
    "column before. The module compiles and runs.",
    "IREE 3.13's SPIR-V code generation makes the buffer's elements vectors and divides the last index by their size without asking "
    "whether it is a multiple (SPIRVVectorizeLoadStore). A 1x1 convolution whose result is padded for the next convolution does "
    "this: 17388 of 20736 values of a plain f32 one were wrong.",
    "fissile keeps the slice out of the dispatch by a fusion boundary: it is copied by a dispatch of its own.",
    example="linalg.generic (a 1x1 convolution, NCHW), then tensor.insert_slice at [0, 1, 1] into a fill, target Vulkan",
    repaired="the convolution, `fissile.boundary`, then the tensor.insert_slice",
)
_rule(
    "FIS113", "not-packed", "an op on narrow elements has no 32-bit form",
    "The target's storage buffers hold 32-bit words only, so narrow elements have to be packed into words, and an op "
    "that reads or writes them is none that `fissile-pack-narrow-storage` can compute in 32 bits.",
    "The op's meaning on narrow types is not known to the pass.",
    "Cast to 32 bits in front of the op that is named, or compile for a target with narrow storage "
    "(`--fissile-match-device=vulkan`).",
)
_rule(
    "FIS114", "not-folded", "a producer cannot be folded into its consumers",
    "`fissile-fold-producers` was told to move an op into its consumers' bodies, and none of them can take it.",
    "The op reduces, or has no body; or a consumer has none, or updates the producer's result in place; or a loop's "
    "extent could be read off no operand any more.",
    "Leave the op out of `ops`, or cut it off with `fissile-place-boundaries`.",
)
_rule(
    "FIS115", "not-widened", "an accumulator cannot be widened to f32",
    "`fissile-widen-accumulators` was told to let an op accumulate in f32, and it cannot.",
    "The op does not reduce, does not accumulate in f16 or bf16, or its body holds an op that has no f32 form.",
    "Leave the op out of `ops`.",
)
_rule(
    "FIS116", "not-decomposed", "an op cannot be taken apart",
    "A pass was told to take an op apart (`fissile-decompose-softmax`, `fissile-decompose-attention`) that is not of the kind it "
    "knows, or has parts that it does not know.",
    "The index in `ops` names another op: indices count the linalg ops of the module in program order. Or an attention's "
    "region has an op that means something to IREE's attention only.",
    "Leave the op out of `ops`.",
)
_rule(
    "FIS117", "not-configured", "an op takes no lowering configuration",
    "`fissile-set-lowering` was told to configure an op that has no body, so code generation would not read it.",
    "The index in `ops` names another op: indices count the linalg ops of the module in program order.",
    "Leave the op out of `ops`.",
)
_rule(
    "FIS118",
    "sign-lost",
    "the numbers will be wrong: code generation loses the sign of narrow integers",
    "A dispatch sign-extends narrow integers that it reads as vectors of several words, and SPIR-V code generation zero-extends "
    "them instead: negative values become positive. The module compiles and runs.",
    "MLIR rewrites the extension of a bitcast into a mask and a logical shift (llvm-project #199243, in IREE 3.13). An int8 "
    "matmul on a device with 8-bit storage had 4091 of 4096 values wrong.",
    "fissile reads such buffers as 32-bit words and extends the elements itself (`fissile-pack-narrow-storage`).",
)
_rule(
    "FIS119",
    "unread-border",
    "a window at one position does not read all of its operand, and IREE refuses the op",
    "A convolution or pooling whose result is one pixel wide leaves the last rows of its input unread (3x3 with stride 2 on 4x4), and "
    "IREE stops in global optimisation: `inferred input/output operand #1 has shape's dimension #1 to be 4, but found 3`.",
    "IREE 3.13 drops loops that run once without making the operand smaller, and its own verifier refuses the result. Small "
    "inputs to strided networks do this, on every target.",
    "fissile slices the unread border off before (`fissile-trim-borders`); no number changes.",
)
_rule(
    "FIS120", "limit-disagreement", "two sources give different limits for one target",
    "IREE's table and the vendor's document, or the device itself, disagree.",
    "IREE's table is maintained by hand.",
    "fissile uses the smaller limit and says so.",
)
_rule(
    "FIS121", "prediction-mismatch", "prediction and code generation disagree about a dispatch's bytes",
    "The model of IREE's tiling predicts another sum than IREE's code generation allocates.",
    "IREE changed, or a pattern the model does not know.",
    "The probe's number is the true one. Please report the program.",
)
_rule(
    "FIS122",
    "not-in-the-spec",
    "the tuning spec that was asked for does not carry every repair",
    "`--emit-tuning-spec=FILE` writes the repairs that are lowering configurations, as a tuning spec that "
    "stock iree-compile takes beside the program as it is. Here some repairs, or all, are changes of the program.",
    "A configuration chooses tiles and a pipeline for one dispatch's root; it cannot split a dispatch or change a type. IREE 3.13 "
    "reads specs for AMD and NVIDIA GPUs, not for SPIR-V.",
    "`--emit-mlir=FILE` writes the repaired module, which stock iree-compile takes from global optimisation on.",
)
_rule(
    "FIS123", "not-by-element", "an op cannot read its inputs element by element",
    "`fissile-read-by-element` was told to let an op read by `tensor.extract` in its body, and it cannot.",
    "The op has no body (linalg.softmax), or reads no tensor: indices count the linalg ops of the module in program order.",
    "Leave the op out of `ops`.",
)
_rule(
    "FIS124", "not-extended", "an op has no operand that could be extended before it",
    "`fissile-extend-operands` was told to take the extension of narrow operands out of an op, and there is none in it.",
    "The op does not reduce, has no body, or does more with each operand than extend it: indices count the linalg ops of the "
    "module in program order.",
    "Leave the op out of `ops`.",
)
_rule(
    "FIS125", "long-loop", "one thread runs a long row alone: slow, and wrong where the device ends its loop",
    "All loops of one thread of a dispatch run more than 65535 iterations, one after the other. lavapipe ends them there, without a "
    "message: a softmax of 50257 f32 values had all of them wrong. Other devices take long, while their other threads have nothing to do.",
    "IREE 3.13's SPIR-V code generation gives a row to one thread (BaseDistribute) where it has no other schedule: always where the target "
    "has no arithmetic across a subgroup (default Vulkan), else for sizes that fill no vectors.",
    "fissile splits the sum into parts (`fissile-split-reductions`), or makes a convolution's loops one (`fissile-read-by-element`).",
    example="linalg.softmax of a tensor<1x50257xf32>, or a sum of 128256 values, target Vulkan",
    repaired="the sum of 256 sums, of every 256th value each",
)
_rule(
    "FIS126", "host-float", "a float of less than 32 bits is kept on the host, which IREE's VM has no type for",
    "A scalar f16, bf16 or 8-bit float stands outside of every dispatch, and IREE stops at the end (`failed to legalize operation "
    "'util.initializer'`), on every target: an fp16 network whose pooling pads with -3.4e38, for example.",
    "MLIR folds no cast of a constant that rounds or overflows; IREE 3.13 hoists it into a global, and the VM has 32 bits and more.",
    "fissile does the cast and puts the constant where it is used (`fissile-fold-host-floats`); no number changes.",
    example="arith.truncf %c : f32 to f16 of -3.40282347E+38, padding a tensor", repaired="arith.constant 0xFC00 : f16",
)
_rule(
    "FIS150", "baseline-grown", "a dispatch needs more on-chip memory than the baseline says",
    "`fissile check --baseline FILE` compares the bytes of every dispatch with those that were recorded, and one grew.",
    "A change of the model, of the target or of IREE fused or tiled it in another way.",
    "Look at the ledger of that dispatch (`--format=json` lists every buffer). `--update-baseline` accepts the new bytes.",
)
_rule(
    "FIS151", "baseline-incomplete", "the baseline has nothing to compare with",
    "A target or a dispatch of this run is not in the baseline file.",
    "The baseline was written for other targets, or the model has a new dispatch.",
    "`--update-baseline` adds what is missing.",
)
_rule(
    "FIS130", "numerics-differ", "two programs that must agree compute different numbers",
    "The repaired program, or the program on a target, differs from its reference by more than the tolerance.",
    "A wrong repair or a miscompile; the finding names the output, the place and the size of the difference.",
    "Do not ship the module. `--repair=off` shows what stock IREE says.",
)
_rule(
    "FIS131", "not-verified", "a program could not be run, so nothing was compared",
    "A runtime refused the module, stopped with an error, or did not end in time.",
    "See the runtime's own message.",
    "Name a runtime that can run it (`--on`), or smaller inputs.",
)
_rule(
    "FIS201", "storage-overrun", "an op reads or writes past the end of its storage in every call that runs it",
    "A size meets a capacity, and it never fits: every call that gets there would read or write out of bounds, or "
    "takes a shape for another one.",
    "Stock IREE 3.13 does not look: a tensor.insert_slice of 100 elements into a tensor of 10 runs without an error.",
    "Mend the size that is named, or give the storage room; `fissile-grow-storage` computes a capacity from the "
    "sizes that use it, where the storage does not escape.",
    example="tensor.insert_slice %y into %f[5] [10] [1] : tensor<?xf32> into tensor<10xf32>",
    repaired="tensor.insert_slice %y into %f[0] [10] [1] : tensor<?xf32> into tensor<10xf32>",
)
_rule(
    "FIS202", "storage-precondition", "an op stays inside its storage only for some calls",
    "The sizes come from the caller: some fit and some do not. This is part of the function's contract.",
    "Neither constants nor intervals nor an SMT solver decide it for all calls.",
    "With --guard=assert (the default) one assert checks it, at the function's entry where it can: a violating call "
    "returns FAILED_PRECONDITION with the same sentence. `util.assume.int` or a cf.assert of your own may prove it.",
    example="tensor.insert_slice %y into %f[0] [%m] [1], %m an argument",
    repaired="the same, after cf.assert of %m <= 10 at the entry",
)
_rule(
    "FIS203", "asserts-stripped", "run-time checks are needed, and an option strips them",
    "--iree-opt-strip-assertions removes every cf.assert, fissile's and the program's own.",
    "The option is meant for programs whose asserts are known to hold.",
    "Leave the option out, or prove what FIS202 lists.",
)
_rule(
    "FIS204", "storage-not-covered", "an op with dynamic shapes has no storage rule",
    "fissile does not know what sizes this op needs, so nothing about it is checked.",
    "An op of a dialect, or a newer IREE, that the rules do not know.",
    "Report the op; a rule is one function in passes/analysis/storage_rules.py.",
)
_rule(
    "FIS205", "storage-not-protected", "a size may not fit, and no check of it can be placed",
    "The condition depends on values that exist only inside a dispatch, in a form that no separate check can compute.",
    "An assert inside a dispatch is dropped by IREE.",
    "Clamp the index in the program, or compute it in a tensor of its own.",
)
_rule(
    "FIS206", "no-smt-solver", "the SMT tier of the storage proofs is not available",
    "z3 is not installed: obligations that only it could prove are checked at run time instead.",
    "z3 is an optional dependency.",
    "pip install 'fissile[storage]'",
)
_rule(
    "FIS207", "storage-grown", "a fixed capacity was replaced by one computed from the sizes that use it",
    "`fissile-grow-storage` made a storage as large as the largest end of its uses.",
    "Its uses were not proved to fit, and it does not escape.",
    "Nothing to do. Where the capacity is meant as a limit, leave the pass out: the guard asserts it then.",
    example="%s = fissile.alloc_storage of 64 bytes, fissile.alloc_tensor of %n floats on it",
    repaired="%s = fissile.alloc_storage of max(64, 4 * %n) bytes",
)
_rule(
    "FIS140", "recomputed-producer", "a producer is computed again for every use",
    "An elementwise producer (dequantise, most of all) stands in the body of a convolution or reduction that reads each of its "
    "elements many times. The program is right, and 5 to 30 times slower than it could be on llvm-cpu.",
    "IREE folds the producer into its consumer's loop nest: it is evaluated per multiply-and-add, and the body is no "
    "plain contraction any more for the vectoriser.",
    "`--fusion=tune` places a fusion boundary behind the producer.",
)
_rule(
    "FIS401", "leftover-op", "a fissile op is left over before translation",
    "An op of the fissile dialect reached the point where IREE translates, which cannot lower it.",
    "The pass that lowers it did not run, or ran before the pass that made it.",
    "Run the pass that is named after the one that creates the op.",
)
_rule(
    "FIS402", "invalid-op", "a fissile op does not verify",
    "An op of the fissile dialect breaks its own rules: operand or result types, attributes, regions.",
    "Written by hand, or made by a pass with a mistake.",
    "Mend the op that is named; `fissile-opt --verify-dialect` shows the same error.",
)
_rule(
    "FIS403", "require-refuted", "a precondition never holds",
    "The condition of a fissile.require is the constant false: no input can satisfy it.",
    "The program contradicts its own precondition.",
    "Mend the sizes or the condition that the sentence speaks of.",
    example='%false = arith.constant false, then "fissile.require"(%false) {message = "at most 16 rows"}',
    repaired="a condition that some input satisfies; one that all satisfy is removed without a trace",
)
_rule(
    "FIS404", "storage-escapes", "explicit storage is used where no pass can lower it",
    "A !fissile.storage is passed to a call, returned, or comes in as an argument.",
    "Storage becomes ordinary tensors inside one function; IREE has no type for it.",
    "Allocate it in the function that uses it, and pass the tensors that stand on it instead.",
)
_rule(
    "FIS405", "group-size", "the size of a group's result is not known outside the group",
    "A fissile.group yields a tensor with a dynamic dimension that is computed inside the group, from values that "
    "exist only there.",
    "A dispatch's result sizes must be known before it is launched.",
    "Compute the size before the group and use it inside.",
)
_rule(
    "FIS501", "contract-unmet", "a pipeline's passes do not chain",
    "A pass requires a property that nothing before it establishes, or that a pass in between breaks.",
    "The order of passes is wrong, or one is missing.",
    "Insert the pass that is named, or move it.",
)
_rule(
    "FIS502", "contract-broken", "a pass broke a property that it should keep",
    "With --verify-contracts every property is checked again after every pass; this one no longer holds.",
    "A mistake in the pass, or in its declared contract.",
    "The pass is named; `fissile passes NAME` shows its contract.",
)
_rule(
    "FIS901", "internal", "fissile itself failed",
    "An error in fissile or in a user's pass, with no other rule.",
    "See the message.",
    "The reproducer that is named shows it again.",
)

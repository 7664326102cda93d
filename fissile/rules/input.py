"""Findings about the input and about fissile itself: FIS0xx and FIS9xx."""

from fissile.effect import Effect

from .rule import define
from .shown import Shown

COMPILE = "fissile compile in.mlir --target=llvm-cpu -o out.vmfb"

define(
    "FIS001",
    "input-rejected",
    "the input is not a module that IREE accepts",
    "The file does not parse as MLIR, it does not verify, or IREE's own diagnostics end the compile before code "
    "generation.",
    "The program has a syntax error, an op of a dialect that IREE does not know, or types that do not match.",
    "Correct the line that the finding names. `iree-opt FILE` shows the same error without the rest of the compile.",
    effect=Effect.REFUSED,
    shown=Shown(
        "fissile-opt in.mlir",
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<8xf32>
  return %0 : tensor<4xf32>
}
""",
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS002",
    "compile-failed",
    "IREE rejects the module, and fissile knows no repair",
    "IREE's pipeline stopped with an error that no other rule recognises.",
    "The finding repeats IREE's own message unchanged.",
    "Report it to IREE with the reproducer. `fissile compile --save-temps=DIR` keeps the IR from before the failing "
    "phase.",
    effect=Effect.REFUSED,
    shown=Shown(
        "fissile-opt in.mlir --pass-pipeline='builtin.module(iree-codegen-linalg-to-spirv-pipeline)'",
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        repaired_command=COMPILE,
    ),
)
define(
    "FIS003",
    "no-functions",
    "the module has no functions",
    "The module has nothing to call and nothing to translate.",
    "The file is empty, all functions of the module are private and unused, or it is the wrong file.",
    "Pass a module with at least one public function.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
module {
}
""",
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS004",
    "no-target",
    "the command names no target that IREE knows",
    "IREE has no device to generate code for, or does not know the named one. For some names it crashes after that "
    "message.",
    "--iree-hal-target-device is missing, or this version of IREE does not know the device, backend, architecture "
    "or CPU (sm_90 in IREE 3.13).",
    "Name one of the targets that `fissile targets` lists.",
    effect=Effect.REFUSED,
    shown=Shown(
        "fissile compile in.mlir -o out.vmfb --iree-hal-target-device=cuda --iree-cuda-target=sm_90",
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        repaired_command=COMPILE,
    ),
)
define(
    "FIS005",
    "pipeline-in-input",
    "the input contains a pass pipeline",
    "An attribute of the program (`#util.preprocessing_pipeline`, `#iree_codegen.pass_pipeline`) or a transform op "
    "(`transform.apply_registered_pass`) holds a pass pipeline that IREE runs while it compiles the program. A "
    "transform script in bytecode (`iree_codegen.tuning_spec_mlirbc`) does the same.",
    "Some of IREE's passes run a command or write a file. Whoever wrote the program can therefore run code on the "
    "machine that compiles it.",
    "Remove the attribute. If you trust the file, compile with `--allow-pipelines-in-input`.",
    shown=Shown(
        "fissile-opt in.mlir",
        """\
util.func public @main(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {preprocessing_pipeline = #util.preprocessing_pipeline<"builtin.module(canonicalize)">} {
  util.return %a : tensor<4xf32>
}
""",
        """\
util.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  util.return %a : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS006",
    "native-code-in-input",
    "the input contains native code or names an object file",
    "An op of the program is machine code (`llvm.inline_asm`), calls an LLVM function, or works on addresses "
    "(`!llvm.ptr`); or `#hal.executable.object` holds an object file, or names one by an absolute path or through "
    "`..`.",
    "IREE evaluates the constant parts of a program with the code that it generates, inside the compiler's process. "
    "Native code therefore runs while the program is compiled. Inline assembly (`.incbin`) and object files can "
    "also copy files of this machine into the artifact.",
    "Write the op with `arith`, `math`, `linalg` or `tensor`. Put object files below the working directory or a "
    "search path that the command line names. If you trust the file, compile with `--allow-pipelines-in-input`.",
    shown=Shown(
        COMPILE,
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>)
      (%x: f32, %o: f32) {
    %y = llvm.inline_asm "addss $0, $0", "=x,0" %x : (f32) -> f32
    linalg.yield %y : f32
  }
  return %r : tensor<4xf32>
}
""",
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %a, %a : tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS007",
    "option-rejected",
    "IREE rejects the program for an option of the command line",
    "IREE stops, with a message about the program. The same program compiles without the option that the finding names, "
    "or with the one that it says is missing.",
    "Some options exclude each other or a target: an execution model without a device (`host-only`) has no place for tensors, and the "
    "backend `vmvx-inline` has code for one execution model only. Others are experiments that not every program survives.",
    "Leave the option out, or add the one that is named. fissile has compiled the program that way before it says so.",
    effect=Effect.REFUSED,
    shown=Shown(
        "fissile compile in.mlir --target=llvm-cpu --iree-execution-model=host-only -o out.vmfb",
        """\
func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
""",
        repaired_command=COMPILE,
    ),
)
define(
    "FIS008",
    "started-late",
    "the compile starts behind phases whose results fissile checks",
    "`--compile-from` names a phase behind global-optimization, where tensors are values and sizes are known. What later phases make of "
    "the program does not show any more whether an index fits its storage, or whether IREE has moved a load or a store.",
    "fissile compares what a program specifies with what IREE makes of it, phase by phase; a program that was written behind a phase "
    "has no such part before it.",
    "Compile the program from its start, or from a phase up to global-optimization. If fissile has written the input "
    "(`fissile compile --compile-to=flow`), that was checked then.",
    shown=Shown(
        "fissile compile in.mlir --target=llvm-cpu --compile-from=flow -o out.vmfb",
        """\
util.func public @f(%a: !hal.buffer_view) -> !hal.buffer_view {
  util.return %a : !hal.buffer_view
}
""",
        repaired_command=COMPILE,
    ),
)
define(
    "FIS010",
    "uncalibrated-version",
    "fissile is not calibrated for the installed version of IREE",
    "fissile's models of IREE (bytes, pipelines, messages) were measured on another version of IREE than the "
    "installed one.",
    "IREE's names, defaults and code generation change between versions. On an uncalibrated version fissile trusts "
    "no prediction: IREE generates code for every dispatch, which takes longer, and fissile recognises fewer of "
    "IREE's messages.",
    "Install the version that the warning names, or keep yours: whatever stock IREE compiles, fissile still "
    "compiles. `fissile --version` shows both versions.",
    shown=Shown(
        COMPILE,
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        setting="a version of IREE is installed that fissile was not calibrated on",
    ),
)
define(
    "FIS902",
    "not-checked",
    "fissile could not check something and continued without it",
    "A guard, prediction, check, probe or repair raised an error or took more than two minutes. fissile did not "
    "check what the finding names, which may be right or wrong. fissile did everything else, and compiled whatever "
    "stock IREE compiles.",
    "fissile does not know an op, a type or an attribute of the program, or fissile has a bug.",
    "For what the finding names, the artifact is exactly as good as stock IREE's. If you rely on the check, use "
    "`--strict`, which makes this exit status 3. Report the finding with the output of the command in its notes.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        setting="a check of fissile throws an error",
    ),
)
define(
    "FIS903",
    "stepped-aside",
    "fissile failed and compiled the program as stock IREE does",
    "fissile raised an error outside of every individual check, or the compiling process crashed or hung. It "
    "compiled the program again without its storage guard, its checks and its repairs. Options that name fissile "
    "passes or a device to match still apply, because they are part of the request.",
    "fissile has a bug, or IREE's Python bindings crash where iree-compile does not.",
    "The artifact is stock IREE's, unchecked. If stock fails too, its message is the error. `--strict` makes this "
    "exit status 3. Report the finding with the output of the command in its notes.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        setting="fissile throws an error outside of every single check",
    ),
)

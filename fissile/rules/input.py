"""Findings about the input and about fissile itself: FIS0xx and FIS9xx."""

from fissile.effect import Effect

from .rule import define
from .shown import Shown

COMPILE = "fissile compile in.mlir --target=llvm-cpu -o out.vmfb"

define(
    "FIS001",
    "input-rejected",
    "the input is not a module that IREE accepts",
    "The file does not parse as MLIR, does not verify, or IREE's own diagnostics end the compile before code generation.",
    "A syntax error, an op of a dialect that IREE does not know, or types that do not agree.",
    "Correct the place that is named. `iree-opt FILE` shows the same error without the rest of the compile.",
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
    "IREE refuses the module for a reason that has no repair here",
    "IREE's pipeline stopped with an error that none of the other rules recognises.",
    "See IREE's own message, which is repeated unchanged.",
    "Report it upstream with the reproducer; `fissile compile --save-temps=DIR` keeps the IR before the failing phase.",
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
    "Nothing can be called, and IREE has nothing to translate.",
    "An empty file, a module whose functions are all private and unused, or the wrong file.",
    "Give a module with at least one public function.",
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
    "the compile names no target that IREE knows",
    "IREE has no device to generate code for, or no description of the one that is named. On some names it crashes after that message.",
    "--iree-hal-target-device is missing, or the device, backend, architecture or CPU is unknown to this version (sm_90 in IREE 3.13).",
    "`fissile targets` lists the targets that IREE 3.13 describes; name one of them.",
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
    "the input brings its own pass pipeline",
    "An attribute of the program (`#util.preprocessing_pipeline`, `#iree_codegen.pass_pipeline`) or a transform op "
    "(`transform.apply_registered_pass`) holds a pass pipeline that IREE runs while it compiles the program. So does a transform script "
    "in bytecode (`iree_codegen.tuning_spec_mlirbc`).",
    "Some of IREE's passes start a command or write a file: compiling such a program runs what its author wants on this machine.",
    "Remove the attribute, or compile with `--allow-pipelines-in-input` if you trust the file.",
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
    "the input brings native code, or names an object file",
    "An op of the program is machine code (`llvm.inline_asm`), a call of LLVM's, or works on addresses (`!llvm.ptr`); or "
    "`#hal.executable.object` holds an object file or names one by an absolute path or through `..`.",
    "IREE evaluates constant parts of a program with the code that it generates, in the compiler's own process: such an op runs while "
    "the program is compiled. Inline assembly (`.incbin`) and objects also read files of this machine into the artifact.",
    "Write the op with `arith`, `math`, `linalg` or `tensor`, put objects below the working directory or a search path of "
    "the command line, or compile with `--allow-pipelines-in-input` if you trust the file.",
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
    "FIS010",
    "uncalibrated-version",
    "fissile was not calibrated on the installed version of IREE",
    "fissile's models of IREE (bytes, pipelines, messages) were measured on one version, and another one is installed.",
    "Names, defaults and code generation change between versions of IREE. On another version fissile trusts no prediction: it has IREE "
    "generate code for each dispatch, which takes longer, and recognises fewer of IREE's messages.",
    "Install the version that the warning names, or keep the one you have: what stock IREE compiles still comes out. "
    "`fissile --version` shows both.",
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
    "fissile could not check something, and went on without it",
    "A guard, a prediction, a check, a look at a dispatch or a repair threw an error, or took more than two minutes. What the finding names is not "
    "checked: it may be right or wrong. Everything else was done, and what stock IREE builds is built.",
    "fissile does not know an op, a type or an attribute of the program, or there is a defect in fissile.",
    "The artifact is no worse than stock IREE's; in what is named, it is no better. `--strict` makes it exit status 3, for those who rely on the check. "
    "Report it with what the command in the notes prints.",
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
    "fissile failed, and the program was compiled as stock IREE does it",
    "An error outside of every single check, a crash or a hang of the process that compiles. The compile was done again with nothing of fissile's own: no "
    "storage guard, no look at the dispatches, no repair. Options that name passes of fissile or a device to match hold; they are part of the request.",
    "There is a defect in fissile, or IREE's Python bindings crash where iree-compile does not.",
    "The artifact is stock IREE's, unchecked. Where stock fails too, its message is the error. `--strict` makes it exit status 3. "
    "Report it with what the command in the notes prints.",
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

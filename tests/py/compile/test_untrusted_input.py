"""What a hostile program, or a hostile folder, can make fissile do: run nothing, read nothing else, forge no line."""

import io
import json
import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from programs import run_program
from report_documents import check_document

from bench.faults.commands import CONV
from fissile.finding import Finding, Place
from fissile.passes.definition import PassFailed
from fissile.pipelines.report.text import render
from fissile.pipelines.report.untrusted_text import SourceLines
from fissile.report import Report
from fissile.shown_text import shown

BIN = Path(sys.executable).parent
ADD = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
LLVM_CPU = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
DUMP = "builtin.module(iree-util-dump-module{path=DUMPED})"
ATTRIBUTE = f'#util.preprocessing_pipeline<"{DUMP}">'
BRINGS_PIPELINE = """util.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> attributes {ATTRIBUTE} {
  builtin.module { util.func private @x() }
  %0 = arith.addf %a, %a : tensor<4xf32>
  util.return %0 : tensor<4xf32>
}
"""

MODULES = sorted(
    {
        *sys.stdlib_module_names,
        *packages_distributions(),
        "sitecustomize",
        "usercustomize",
        "conftest",
        "setup",
        "evil",
    }
)
"""Every module that anything here could import."""

COMMANDS = {
    "compile": ("fissile", "compile", *LLVM_CPU, "in.mlir", "-o", "out.vmfb"),
    "check": ("fissile", "check", "in.mlir", "--target", "llvm-cpu"),
    "check-probes": ("fissile", "check", "in.mlir", "--target", "gfx942", "--probe=all"),
    "reduce": ("fissile", "reduce", *LLVM_CPU, "in.mlir", "-o", "out.mlir"),
    "verify": ("fissile", "verify", "in.mlir", "in.mlir", "--on", "local-task"),
    "match-device": (
        "fissile",
        "compile",
        "--iree-hal-target-device=vulkan",
        "--fissile-match-device=vulkan",
        "in.mlir",
        "-o",
        "out.vmfb",
    ),
    "opt": ("fissile-opt", "in.mlir", "--pass-pipeline=builtin.module(canonicalize)"),
    "passes": ("fissile", "passes"),
    "audit": ("fissile", "audit", "in.mlir", "--target", "llvm-cpu"),
    "sweep": ("fissile", "sweep", "in.mlir", "--target", "llvm-cpu", "--out", "results"),
    "onnx": ("fissile", "compile", *LLVM_CPU, "--compile-to=input", "in.onnx", "-o", "out.mlir"),
    "report": ("fissile", "report", "in.json", "-o", "out.html"),
    "explain": ("fissile", "explain", "FIS101"),
    "targets": ("fissile", "targets"),
    "cache": ("fissile", "cache"),
    "completion": ("fissile", "completion", "bash"),
    "support": (
        "fissile",
        "support",
        "--target",
        "llvm-cpu",
        "--op",
        "math.absf",
        "--element",
        "f32",
        "--again",
    ),
}


def run(command, folder: Path) -> subprocess.CompletedProcess:
    return run_program(
        [str(BIN / command[0]), *command[1:]], cwd=folder, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_no_module_of_the_working_directory_is_imported(name, tmp_path):
    (tmp_path / "in.mlir").write_text(ADD)
    (tmp_path / "in.json").write_text(json.dumps(check_document(1)))
    if name == "onnx":
        _write_model(tmp_path / "in.onnx")
    for module in MODULES:
        (tmp_path / f"{module}.py").write_text(
            f"open({str(tmp_path / 'RAN')!r}, 'a').write('{module} ')\nraise SystemExit(7)\n"
        )
    package = tmp_path / "evil-1.0.dist-info"  # a package that declares entry points
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[fissile.checks]\nevil = evil:Evil\n[fissile.passes]\nevil = evil:Evil\n"
    )
    ended = run(COMMANDS[name], tmp_path)
    assert not (tmp_path / "RAN").exists(), (tmp_path / "RAN").read_text()
    # What the command itself says of this program is its own: reduce finds nothing that fails, a machine may have no Vulkan device.
    assert ended.returncode in (0, 2) and "Traceback" not in ended.stderr, ended.stderr


def _write_model(file: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    kind = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["y"])], "g", [kind("x", 1, [4])], [kind("y", 1, [4])]
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    file.write_bytes(made.SerializeToString())


@pytest.mark.parametrize("name", ["compile", "check", "reduce", "opt", "audit"])
@pytest.mark.parametrize(
    "spelling",
    [
        f"preprocessing_pipeline = {ATTRIBUTE}",
        f'"preprocessing\\5Fpipeline" = {ATTRIBUTE}',
        f"anything = [{{deep = {ATTRIBUTE}}}]",
        'anything = #iree_codegen.pass_pipeline<"canonicalize">',
    ],
    ids=["plain", "escaped", "nested", "codegen"],
)
def test_a_pipeline_in_the_input_is_refused_and_not_run(name, spelling, tmp_path):
    (tmp_path / "in.mlir").write_text(BRINGS_PIPELINE.replace("ATTRIBUTE", spelling))
    ended = run(COMMANDS[name], tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "FIS005" in ended.stderr + ended.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.mlir"]


def test_verify_refuses_a_pipeline_in_either_program(tmp_path):
    (tmp_path / "in.mlir").write_text(
        BRINGS_PIPELINE.replace("ATTRIBUTE", f"preprocessing_pipeline = {ATTRIBUTE}")
    )
    (tmp_path / "add.mlir").write_text(ADD)
    for programs in (("in.mlir", "add.mlir"), ("add.mlir", "in.mlir")):
        ended = run(("fissile", "verify", *programs, "--on", "local-task"), tmp_path)
        assert ended.returncode == 2 and "FIS005" in ended.stderr, ended.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["add.mlir", "in.mlir"]


def test_a_pipeline_in_the_input_runs_where_that_is_allowed(tmp_path):
    (tmp_path / "in.mlir").write_text(
        BRINGS_PIPELINE.replace("ATTRIBUTE", f"preprocessing_pipeline = {ATTRIBUTE}")
    )
    ended = run((*COMMANDS["compile"], "--allow-pipelines-in-input"), tmp_path)
    assert "FIS005" not in ended.stderr


def test_a_registered_pass_of_a_transform_script_is_a_pipeline(tmp_path):
    (tmp_path / "in.mlir").write_text(
        ADD
        + "module attributes {transform.with_named_sequence} {\n  transform.named_sequence @x(%m: !transform.any_op) {\n"
        '    %1 = transform.apply_registered_pass "canonicalize" to %m : (!transform.any_op) -> !transform.any_op\n    transform.yield\n  }\n}\n'
    )
    ended = run(COMMANDS["opt"], tmp_path)
    assert ended.returncode == 1 and "transform.apply_registered_pass" in ended.stderr


SCRIPT = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__kernel_config(%m: !transform.any_op {transform.consumed}) -> !transform.any_op
      attributes {iree_codegen.tuning_spec_entrypoint} {
    %p = "transform.get_parent_op"(%m) <{op_name = "builtin.module", nth_parent = 1 : i64}> : (!transform.any_op) -> !transform.any_op
    %n = transform.apply_registered_pass "iree-util-dump-module" with options = { "path" = "DUMPED" }
        to %p : (!transform.any_op) -> !transform.any_op
    transform.yield %m : !transform.any_op
  }
}
"""


def brings_script(folder: Path) -> str:
    """ADD with a transform script in bytecode that writes file DUMPED of ``folder``."""
    from iree.compiler import ir

    with ir.Context():
        script = io.BytesIO()
        ir.Module.parse(SCRIPT.replace("DUMPED", str(folder / "DUMPED"))).operation.write_bytecode(script)
    data = script.getvalue()
    attribute = f'iree_codegen.tuning_spec_mlirbc = dense<"0x{data.hex().upper()}"> : vector<{len(data)}xi8>'
    return f"module attributes {{{attribute}}} {{\n{ADD}}}\n"


@pytest.mark.parametrize("name", ["compile", "check-probes", "reduce", "opt"])
def test_a_script_in_bytecode_is_a_pipeline(name, tmp_path):
    (tmp_path / "in.mlir").write_text(brings_script(tmp_path))
    ended = run(COMMANDS[name], tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "FIS005" in ended.stderr + ended.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.mlir"]


def test_stock_runs_the_script_in_bytecode(tmp_path):
    """What the test above is about: where it is allowed, the file is written."""
    (tmp_path / "in.mlir").write_text(brings_script(tmp_path))
    run((*COMMANDS["compile"], "--allow-pipelines-in-input"), tmp_path)
    assert (tmp_path / "DUMPED").exists()


ON_CONSTANT = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %k = arith.constant dense<[1.0, 2.0, 3.0, 5.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map ins(%k : tensor<4xf32>) outs(%e : tensor<4xf32>)
      (%x: f32, %o: f32) {
    BODY
    linalg.yield %z : f32
  }
  %s = arith.addf %r, %a : tensor<4xf32>
  return %s : tensor<4xf32>
}
"""
NATIVE = {
    "asm": '%z = llvm.inline_asm has_side_effects "ud2", "=x,x" %x : (f32) -> f32',
    "file": '%z = llvm.inline_asm ".pushsection .x; .incbin \\22/etc/hostname\\22; .popsection", "=x,0" %x : (f32) -> f32',
    "generic": '%z = "llvm\\2Einline_asm"(%x) <{asm_string = "ud2", constraints = "=x,x"}> : (f32) -> f32',
    "address": "%i = arith.constant 4096 : i64\n%p = llvm.inttoptr %i : i64 to !llvm.ptr\n"
    "llvm.store %x, %p : f32, !llvm.ptr\n%z = llvm.load %p : !llvm.ptr -> f32",
}


@pytest.mark.parametrize(("name", "body"), [
    *(("compile", body) for body in NATIVE), ("check-probes", "asm"), ("reduce", "asm"), ("audit", "asm"), ("sweep", "asm"),
])  # fmt: skip
def test_native_code_in_the_input_is_refused_and_not_run(name, body, tmp_path):
    """IREE evaluates the constant part of this program in the compiler's process: ud2 ends stock's."""
    (tmp_path / "in.mlir").write_text(ON_CONSTANT.replace("BODY", NATIVE[body]))
    ended = run(COMMANDS[name], tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "FIS006" in ended.stderr + ended.stdout and "FIS107" not in ended.stderr + ended.stdout


def test_native_code_in_bytecode_is_refused(tmp_path):
    from iree.compiler import ir

    with ir.Context() as context, (tmp_path / "in.mlir").open("wb") as out:
        context.allow_unregistered_dialects = True
        ir.Module.parse(ON_CONSTANT.replace("BODY", NATIVE["asm"])).operation.write_bytecode(out)
    ended = run(COMMANDS["compile"], tmp_path)
    assert ended.returncode == 1 and "FIS006" in ended.stderr, ended.stderr


def test_native_code_is_compiled_where_that_is_allowed(tmp_path):
    text = ON_CONSTANT.replace("BODY", NATIVE["asm"]).replace("ud2", "movaps $1, $0")
    (tmp_path / "in.mlir").write_text(text)
    ended = run((*COMMANDS["compile"], "--allow-pipelines-in-input"), tmp_path)
    assert ended.returncode == 0 and (tmp_path / "out.vmfb").exists(), ended.stderr


@pytest.mark.parametrize(("object_", "is_refused"), [
    ('path = "/etc/passwd"', True),
    ('path = "x/../../id_rsa"', True),
    ('path = "a\\2Fb.o"', False),
    ('path = "kernels/a.o"', False),
    ('path = "a.o", data = dense<1> : vector<4xi8>', True),
])  # fmt: skip
def test_an_object_file_is_one_below_the_working_directory(object_, is_refused):
    from iree.compiler import ir

    from fissile.pipelines.brought_code import refuse_brought_code
    from fissile.pipelines.session import Session

    text = ADD.replace(" {\n", f" attributes {{x = [#hal.executable.object<{{{object_}}}>]}} {{\n", 1)
    with Session().context:
        module = ir.Module.parse(text).operation
        refuse_brought_code(module, text.encode(), runs_constants=False)
        if is_refused:
            with pytest.raises(PassFailed) as refused:
                refuse_brought_code(module, text.encode())
            assert refused.value.findings[0].code == "FIS006"
        else:
            refuse_brought_code(module, text.encode())


def test_ops_of_llvm_on_values_are_no_native_code():
    from iree.compiler import ir

    from fissile.passes.analysis.program.native_code import may_hold_native_code, native_code
    from fissile.pipelines.session import Session

    text = ON_CONSTANT.replace("BODY", "%z = llvm.intr.fabs(%x) : (f32) -> f32")
    assert may_hold_native_code(text.encode()) and not may_hold_native_code(ADD.encode())
    with Session().context:
        assert native_code(ir.Module.parse(text).operation) == []


def test_verify_refuses_native_code(tmp_path):
    (tmp_path / "in.mlir").write_text(ON_CONSTANT.replace("BODY", NATIVE["asm"]))
    ended = run(COMMANDS["verify"], tmp_path)
    assert ended.returncode == 2 and "FIS006" in ended.stderr, ended.stderr


def test_text_of_the_input_is_spelled_out():
    assert shown("%xd 64x58 …") == "%xd 64x58 …"
    assert shown("a\x1b[31m\nerror[FIS101]\u202e\udc80") == "a\\x1b[31m\\nerror[FIS101]\\u202e\\udc80"


def test_a_location_forges_no_finding():
    forged = Place("x.mlir\nerror[FIS101] forged\x1b[2J", 1, 1, "label\nwarning[FIS110] forged")
    finding = Finding(
        "FIS108", "m\nerror[FIS101] forged", places=(forged,), notes=("n\nerror[FIS101] forged",)
    )
    text = render(Report("compile", (finding,)), "x.mlir")
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if line.startswith(("error", "warning"))] == [
        "error[FIS108] m\\nerror[FIS101] forged"
    ]


def test_lines_are_quoted_from_the_input_alone(tmp_path):
    own, other = tmp_path / "in.mlir", tmp_path / "private"
    own.write_text("first\nsecond\n")
    other.write_text("secret\n")
    lines = SourceLines(str(own))
    assert (lines.line(str(own), 2), lines.line(str(own), 9), lines.line(str(other), 1)) == ("second", "", "")
    assert SourceLines().line(str(own), 1) == ""


def test_an_input_that_is_no_regular_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for device in (str(tmp_path / "fifo"), "/dev/zero"):
        assert SourceLines(device).line(device, 1) == ""


def test_a_name_is_read_in_a_line_of_the_input_alone(tmp_path, monkeypatch):
    """Findings call a value as its line does; a location may name any file."""
    from fissile.passes.analysis.program import source_lines

    opened = []
    own, other, late = (tmp_path / name for name in ("own.mlir", "other.mlir", "late.mlir"))
    for file in (own, other, late):
        file.write_text("%secret = first\n")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(source_lines, "_inputs", {})
    monkeypatch.setattr(source_lines.linecache, "getlines", lambda file: opened.append(file) or ["%a = x"])
    for file in (own, late, tmp_path / "pipe", "/dev/zero", "", "a\0b"):
        source_lines.may_be_quoted(str(file))
    assert source_lines.line_at(Place(str(own), 1, 1)) == "%a = x" and opened == [str(own)]
    late.unlink()
    for file in (other, late, tmp_path / "pipe", "/dev/zero", "/etc/passwd", "", "a\0b"):
        for read in (source_lines.line_at, source_lines.text_before):
            assert read(Place(str(file), 1, 4)) == ""
    assert source_lines.line_at(None) == source_lines.text_before(None) == "" and len(opened) == 1
    assert source_lines.text_before(Place(str(own), 1, 4)) == "%a "


def test_a_compile_opens_no_file_that_a_location_names(tmp_path):
    """FIS101 names values; their locations are in a pipe, which nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    at = ' loc("pipe":1:1)\n'
    text = CONV.replace("  } -> tensor<1x64x18x18xf32>\n", f"  }} -> tensor<1x64x18x18xf32>{at}")
    text = text.replace("-> tensor<1x64x16x16xf32>\n  return", f"-> tensor<1x64x16x16xf32>{at}  return")
    assert text.count(at) == 2
    (tmp_path / "in.mlir").write_text(text)
    ended = run(("fissile", "check", "in.mlir", "--target", "gfx942"), tmp_path)
    assert (
        ended.returncode == 1
        and "[FIS101]" in ended.stdout + ended.stderr
        and "pipe:1:1" in ended.stdout + ended.stderr
    )


def test_a_location_that_names_a_device_or_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "/dev/zero", "/etc/passwd"):
        (tmp_path / "in.mlir").write_text(
            f'func.func @main(%a: tensor<4xf32>) -> tensor<5xf32> {{\n  %0 = "fissile.boundary"(%a) : (tensor<4xf32>) -> tensor<5xf32> loc("{name}":1:1)\n'
            "  return %0 : tensor<5xf32>\n}\n"
        )
        ended = run(COMMANDS["opt"], tmp_path)
        assert ended.returncode == 1 and f"{name}:1:1" in ended.stderr and "root:" not in ended.stderr

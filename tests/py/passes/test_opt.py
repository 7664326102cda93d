"""The program fissile-opt, as a user and as stock iree-compile call it."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from programs import run_program

from fissile.errors import ExitCode

MATMULS = """
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x8xf32>)
                     outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %m : tensor<4x8xf32>
}
"""
BOUNDARY = """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "fissile.boundary"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)

NAME_EXECUTABLES = '''
from dataclasses import dataclass
from typing import ClassVar
from fissile.passes.definition import Pass, option, register_pass

@register_pass
@dataclass(frozen=True)
class NameExecutables(Pass):
    """Writes the names of the executables that it is given to a file."""

    name: ClassVar[str] = "test-name-executables"
    anchor: ClassVar[str] = "hal.executable"
    to: str = option("", "the file")

    def run(self, op, report):
        with open(self.to, "a") as file:
            file.write(str(op.attributes["sym_name"]) + "\\n")
'''


def opt(*words, text=BOUNDARY, **kwargs):
    return run_program(
        ["fissile-opt", *words], input=text, capture_output=True, text=True, timeout=300, **kwargs
    )


@pytest.mark.parametrize("words", [
    ["fissile-opt", "--pass-pipeline=builtin.module(cse,,canonicalize)"],
    ["fissile", "compile", "-", "-o", "out", *CPU, "--iree-preprocessing-pass-pipeline=builtin.module(cse,,canonicalize)"],
])  # fmt: skip
def test_the_caret_stands_under_what_is_wrong_in_a_pipeline(words, tmp_path):
    done = run_program(words, input=BOUNDARY, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    error, pipeline, caret, hint = done.stderr.splitlines()
    assert error == f"{words[0]}: error: pipeline, column 20: expected a pass or an op name, found ','"
    assert (
        pipeline == "  builtin.module(cse,,canonicalize)" and pipeline[caret.index("^") :] == ",canonicalize)"
    )
    assert caret.strip() == "^" and hint.startswith(f"{words[0]}: one ','")


def test_what_is_wrong_with_an_option_is_in_the_hint():
    """LLVM prints it without its program's name: a line that begins with a colon."""
    done = opt("--pass-pipeline=builtin.module(canonicalize{max-iterations=x})")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "fissile-opt: error: pass 'canonicalize' does not take the options 'max-iterations=x'",
        "fissile-opt: max-iterations: 'x' value invalid for long argument!",
    ]


def test_stock_iree_compile_calls_it_for_every_executable(tmp_path):
    """`--iree-hal-preprocess-executables-with`: a pass that changes nothing changes no byte."""
    (tmp_path / "passes.py").write_text(NAME_EXECUTABLES)
    (tmp_path / "model.mlir").write_text(MATMULS)
    hook = (
        f"fissile-opt --load-passes={tmp_path}/passes.py --mlir-print-debuginfo "
        f"--pass-pipeline=builtin.module(hal.executable(test-name-executables{{to={tmp_path}/names}}),cse)"
    )
    for name, extra in (("stock", ()), ("hooked", (f"--iree-hal-preprocess-executables-with={hook}",))):
        done = run_program(
            ["iree-compile", *CPU, *extra, "model.mlir", "-o", f"{name}.vmfb"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "names").read_text() == '"f_dispatch_0"\n'
    assert (tmp_path / "hooked.vmfb").read_bytes() == (tmp_path / "stock.vmfb").read_bytes()


def test_a_hook_that_fails_stops_stock_iree_compile(tmp_path):
    (tmp_path / "model.mlir").write_text(MATMULS)
    done = run_program(
        [
            "iree-compile",
            *CPU,
            "--iree-hal-preprocess-executables-with=fissile-opt --pass-pipeline=builtin.module(x)",
            "model.mlir",
            "-o",
            "out.vmfb",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode != 0 and not (tmp_path / "out.vmfb").exists()
    [preserved] = re.findall(r"tool stderr preserved at (\S+)", done.stderr)
    assert "fissile-opt: error: unknown pass 'x'" in Path(preserved).read_text()
    Path(preserved).unlink()


def test_input_from_a_file_and_from_standard_input_is_the_same(tmp_path):
    file = tmp_path / "in.mlir"
    file.write_text(BOUNDARY)
    from_file, from_input = opt(str(file), "--fissile-lower-boundaries"), opt("-fissile-lower-boundaries")
    assert from_file.returncode == from_input.returncode == ExitCode.CLEAN
    assert from_file.stdout == from_input.stdout and "compute_barrier.start" in from_file.stdout
    named = opt(str(file), "--mlir-print-debuginfo")
    assert f'"{file}":2:8' in named.stdout


@pytest.mark.parametrize(
    "words, text, status, says",
    [
        (["nothere.mlir"], "", 2, "error: no such file: nothere.mlir"),
        (["."], "", 2, "error: not a file: ."),
        (["--nonesuch"], BOUNDARY, 2, "error: unknown flag or pass '--nonesuch'"),
        (["--fissile-lower-boundary"], BOUNDARY, 2, "did you mean '--fissile-lower-boundaries'?"),
        (
            ["--pass-pipeline=builtin.module(cse"],
            BOUNDARY,
            2,
            "error: pipeline, column 15: this '(' is not closed",
        ),
        (
            ["--pass-pipeline=builtin.module(cse)", "--fissile-lower-groups"],
            BOUNDARY,
            2,
            "both --pass-pipeline and single",
        ),
        (
            ["--fissile-lower-boundaries=x=1"],
            BOUNDARY,
            2,
            "pass 'fissile-lower-boundaries' has no option 'x'",
        ),
        (["--verify-each=0"], BOUNDARY, 2, "fissile-opt: IR is verified after every pass"),
        (["--verify-diagnostics"], BOUNDARY, 2, "fissile-opt: fissile-opt checks no expected messages"),
        (["--mlir-print-ir-after-all"], BOUNDARY, 2, "does not print IR between passes"),
        (["--mlir-print-op-generic"], BOUNDARY, 2, "iree-opt prints in other forms"),
        (["--mlir-print-debug"], BOUNDARY, 2, "did you mean '--mlir-print-debuginfo'?"),
        (["--debug-only=x"], BOUNDARY, 2, "iree-opt has them"),
        (["--load-passes=nothere.py"], BOUNDARY, 2, "no such file of passes: nothere.py"),
        (["--load-passes"], BOUNDARY, 2, "error: "),
        (["a.mlir", "b.mlir"], BOUNDARY, 2, "one input file, please"),
        (
            ["-o", "nothere/out.mlir"],
            BOUNDARY,
            2,
            "error: cannot write nothere/out.mlir: no directory nothere",
        ),
        ([], "this is not MLIR", 1, "error[FIS001] "),
        (
            [],
            BOUNDARY.replace('"fissile.boundary"', "fissile.boundary"),
            1,
            "error[FIS402] fissile.boundary is not in",
        ),
        ([], "func.func @f(%a: i32) -> i64 { return %a : i32 }", 1, "<stdin>:1:"),
        ([], BOUNDARY.replace("-> tensor<4xf32>\n  r", "-> tensor<8xf32>\n  r"), 1, "error[FIS"),
        (["--fissile-check-leftovers"], BOUNDARY, 1, "error[FIS401] fissile.boundary remains"),
    ],
)
def test_what_is_wrong_is_told_with_its_status_and_no_output(words, text, status, says, tmp_path):
    done = opt(*words, text=text, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_an_abort_of_the_compiler_is_told_with_a_reproducer(tmp_path):
    output = tmp_path / "out.mlir"
    output.write_text("before")
    # MLIR ends the process where a pass is nested in an op that it does not take.
    done = opt(
        "--pass-pipeline=builtin.module(func.func(iree-codegen-linalg-to-spirv-pipeline))", "-o", str(output)
    )
    assert done.returncode == ExitCode.FINDINGS
    assert "error[FIS107] the compiler crashed (SIGABRT) in the pipeline" in done.stderr
    assert "shows it again: fissile-opt '--pass-pipeline=" in done.stderr
    assert output.read_text() == "before" and list(tmp_path.iterdir()) == [output]


def test_parts_of_a_split_file_are_judged_alone_and_keep_their_lines():
    text = BOUNDARY + "// -----\n" + "nonsense\n" + "// -----\n" + BOUNDARY.replace("@f", "@last")
    done = opt("--split-input-file", "--mlir-print-debuginfo", text=text)
    assert done.returncode == ExitCode.FINDINGS
    assert "<stdin>:6:1" in done.stderr
    assert done.stdout.count("// -----") == 1 and "@last" in done.stdout
    assert '"<stdin>":9:8' in done.stdout
    again = opt(
        "--split-input-file", text=opt("--split-input-file", text=BOUNDARY + "// -----\n" + BOUNDARY).stdout
    )
    assert again.returncode == 0 and again.stdout.count("func.func @f") == 2


def test_an_output_file_is_replaced_when_the_result_is_complete(tmp_path):
    output = tmp_path / "out.mlir"
    assert opt("-o", str(output), "--fissile-lower-boundaries").returncode == 0
    assert "compute_barrier" in output.read_text() and list(tmp_path.iterdir()) == [output]
    before = output.read_text()
    assert opt("-o", str(output), "--fissile-check-leftovers").returncode == 1
    assert output.read_text() == before


def test_an_output_that_is_no_plain_file_is_written_to_and_not_replaced(tmp_path):
    (tmp_path / "real.mlir").write_text("before")
    link = tmp_path / "link.mlir"
    link.symlink_to("real.mlir")
    assert opt("-o", str(link)).returncode == 0
    assert link.is_symlink() and "fissile.boundary" in (tmp_path / "real.mlir").read_text()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    assert opt("-o", str(pipe)).returncode == 0
    assert "fissile.boundary" in reader.communicate(timeout=300)[0] and pipe.is_fifo()
    refused = opt("-o", str(tmp_path))
    assert refused.returncode == 2 and "cannot write" in refused.stderr


def test_the_dialect_is_verified_unless_told_otherwise():
    wrong = BOUNDARY.replace(
        '"fissile.boundary"(%a) : (tensor<4xf32>)',
        '"fissile.boundary"(%a, %a) : (tensor<4xf32>, tensor<4xf32>)',
    )
    assert "FIS402" in opt(text=wrong).stderr and "FIS402" in opt("--verify-dialect", text=wrong).stderr
    silent = opt("--no-verify-dialect", text=wrong)
    assert silent.returncode == 0 and silent.stderr == ""


def test_help_and_the_list_of_passes_name_every_pass():
    from fissile.passes.catalogue import built_in

    listed = opt("--list-passes").stdout
    assert [line.split()[0] for line in listed.splitlines()] == sorted(built_in())
    assert "exit status: 0 clean, 1 findings, 2 usage, 3 internal error" in opt("--help").stdout


@pytest.mark.parametrize("number", [1, 2])
def test_a_pass_that_one_test_has_loaded_is_known_to_the_next(number):
    from fissile.passes.catalogue import find_pass

    assert find_pass("fissile-trim-borders").name == "fissile-trim-borders"


NOISY = '''
from dataclasses import dataclass
from typing import ClassVar
from fissile.passes.definition import Pass, register_pass

print("printed by the import")

@register_pass
@dataclass(frozen=True)
class Noisy(Pass):
    """Prints in every way."""

    name: ClassVar[str] = "test-noisy"
    anchor: ClassVar[str] = "any"

    def run(self, op, report):
        import os

        print("printed by Python")
        os.system("echo printed by a program")
'''


def test_what_a_pass_prints_is_no_part_of_the_result(tmp_path):
    """Stock iree-compile reads the result from standard output (--iree-hal-preprocess-executables-with)."""
    (tmp_path / "noisy.py").write_text(NOISY)
    done = opt("--load-passes=noisy.py", "--test-noisy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == opt().stdout
    for printed in ("by the import", "by Python", "by a program"):
        assert f"printed {printed}\n" in done.stderr
    (tmp_path / "model.mlir").write_text(MATMULS)
    hook = (
        f"--iree-hal-preprocess-executables-with=fissile-opt --load-passes={tmp_path}/noisy.py --test-noisy"
    )
    command = ["iree-compile", *CPU, hook, "model.mlir", "-o", "out.vmfb"]
    compiled = run_program(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert compiled.returncode == 0, compiled.stderr

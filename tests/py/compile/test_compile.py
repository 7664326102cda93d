"""`fissile compile` end to end: healthy, repaired, refused; and what a person may get wrong."""

from __future__ import annotations

import re
import subprocess

import pytest
from compile_commands import BIN, compile_json, fissile, stock
from programs import run_program
from small_programs import ADD, TARGETS, quantised_conv

# --- healthy


@pytest.mark.parametrize("target", TARGETS)
def test_a_healthy_program_is_stock_byte_for_byte(program, tmp_path, target):
    source = program(ADD)
    assert stock(*TARGETS[target], source, "-o", tmp_path / "stock.vmfb").returncode == 0
    done = fissile("compile", *TARGETS[target], source, "-o", tmp_path / "ours.vmfb")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "ours.vmfb").read_bytes() == (tmp_path / "stock.vmfb").read_bytes()


@pytest.mark.parametrize(
    "flags",
    [
        ["--compile-to=flow"],
        ["--output-format=vm-asm"],
        ["--compile-to=executable-targets"],
        ["--compile-to=flow", "--emit-mlir-bytecode"],
    ],
)
def test_other_outputs_are_stock_byte_for_byte(program, tmp_path, flags):
    source = program(ADD)
    assert stock(*TARGETS["llvm-cpu"], *flags, source, "-o", tmp_path / "stock").returncode == 0
    assert fissile("compile", *TARGETS["llvm-cpu"], *flags, source, "-o", tmp_path / "ours").returncode == 0
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "stock").read_bytes()


def test_standard_input_and_output(program, tmp_path):
    source = program(ADD)
    words = ["compile", *TARGETS["llvm-cpu"], "--compile-to=flow", "-"]
    done = run_program([BIN / "fissile", *words], input=source.read_bytes(), capture_output=True, timeout=300)
    reference = run_program(
        [BIN / "iree-compile", *words[1:]], input=source.read_bytes(), capture_output=True, timeout=300
    )
    assert done.returncode == 0 and done.stdout == reference.stdout and b"func" in done.stdout


def test_process_global_flags_reach_iree(program):
    done = fissile("compile", *TARGETS["llvm-cpu"], program(ADD), "-o", "/dev/null", "--mlir-timing")
    assert done.returncode == 0 and "Execution time report" in done.stderr


def test_listing_flags_go_to_iree_compile():
    assert "llvm-cpu" in fissile("compile", "--iree-hal-list-target-backends").stdout


# --- repaired


@pytest.mark.parametrize("target, limit", [("gfx942", 65536), ("vulkan", 16384)])
def test_the_bytes_are_irees_own(program, tmp_path, target, limit):
    source = program(quantised_conv())
    refused = stock(*TARGETS[target], source, "-o", tmp_path / "stock.vmfb")
    printed = re.search(r"uses (\d+) bytes of shared memory; exceeded the limit of (\d+)", refused.stderr)
    assert refused.returncode == 1 and int(printed.group(2)) == limit
    done, report = compile_json(*TARGETS[target], source, "-o", tmp_path / "out.vmfb", "--repair=off")
    (finding,) = [f for f in report["findings"] if f["code"] == "FIS101"]
    assert done.returncode == 1 and finding["severity"] == "error"
    assert finding["ledger"]["total"]["value"] == int(printed.group(1))
    assert finding["limit"]["bytes"] == limit
    assert finding["places"][0]["line"] == 5, "the dequantised input is to blame"


def test_a_dispatch_that_does_not_fit_is_cut_and_reported(program, tmp_path):
    done, report = compile_json(*TARGETS["gfx942"], program(quantised_conv()), "-o", tmp_path / "out.vmfb")
    (finding,) = report["findings"]
    assert done.returncode == 0 and (tmp_path / "out.vmfb").stat().st_size > 0
    assert (finding["code"], finding["severity"]) == ("FIS101", "repaired")
    (help_,) = finding["helps"]
    assert help_["applied"] and "computed %xd in a separate dispatch" in help_["title"]


def test_narrow_storage_is_packed_and_reported(program, tmp_path):
    done, report = compile_json(*TARGETS["vulkan"], program(quantised_conv()), "-o", tmp_path / "out.vmfb")
    codes = {f["code"]: f["severity"] for f in report["findings"]}
    assert codes == {"FIS110": "repaired"} and done.returncode == 0


def test_narrow_storage_is_never_a_silent_success(program, tmp_path):
    """Not to be repaired, it is withheld; and written with a warning where the user insists."""
    text = NARROW_COPY.replace("16x", "17x")
    done, report = compile_json(
        *TARGETS["vulkan"], program(text), "-o", tmp_path / "out.vmfb", "--repair=off"
    )
    codes = {f["code"]: (f["severity"], f["effect"]) for f in report["findings"]}
    assert (
        codes["FIS110"] == ("error", "wrong")
        and done.returncode == 1
        and not (tmp_path / "out.vmfb").exists()
    ), done.stderr
    done, report = compile_json(
        *TARGETS["vulkan"],
        program(text),
        "-o",
        tmp_path / "out.vmfb",
        "--repair=off",
        "--allow-wrong-numbers",
    )
    codes = {f["code"]: (f["severity"], f["effect"]) for f in report["findings"]}
    assert (
        codes["FIS110"] == ("warning", "wrong") and done.returncode == 0 and (tmp_path / "out.vmfb").exists()
    ), done.stderr


def test_no_warning_of_narrow_storage_where_the_target_has_it(program, tmp_path):
    _done, report = compile_json(*TARGETS["gfx942"], program(quantised_conv()), "-o", tmp_path / "out.vmfb")
    assert {f["code"] for f in report["findings"]} == {"FIS101"}


NARROW_COPY = """\
func.func @f(%a: tensor<16xi8>) -> tensor<16xf32> {
  %r = arith.sitofp %a : tensor<16xi8> to tensor<16xf32>
  return %r : tensor<16xf32>
}
"""


NARROW_SHIFT = """\
func.func @f(%a: tensor<16xi8>) -> tensor<16xi8> {
  %c = arith.constant dense<2> : tensor<16xi8>
  %r = arith.shrui %a, %c : tensor<16xi8>
  return %r : tensor<16xi8>
}
"""


def test_warnings_are_errors_where_asked(program, tmp_path):
    done = fissile(
        "compile",
        *TARGETS["vulkan"],
        program(NARROW_SHIFT),
        "-o",
        tmp_path / "out.vmfb",
        "--repair=off",
        "--fissile-werror",
    )
    assert done.returncode == 1 and not (tmp_path / "out.vmfb").exists()


def test_dispatches_of_equal_body_are_repaired_alike(program, tmp_path):
    layer = quantised_conv(name="first")
    source = program(layer + layer.replace("@first", "@second"))
    done, report = compile_json(*TARGETS["gfx942"], source, "-o", tmp_path / "out.vmfb")
    assert done.returncode == 0
    assert len([f for f in report["findings"] if f["code"] == "FIS101"]) == 1
    assert len(report["facts"]["edits"]) == 2 and report["facts"]["rounds"] <= 4


@pytest.mark.parametrize("mode", ["off", "suggest"])
def test_without_repair_nothing_is_written(program, tmp_path, mode):
    output = tmp_path / "out.vmfb"
    done = fissile("compile", *TARGETS["gfx942"], program(quantised_conv()), "-o", output, f"--repair={mode}")
    assert done.returncode == 1 and not output.exists()
    assert "error[FIS101]" in done.stderr
    assert ("help: compute %xd in a separate dispatch" in done.stderr) == (mode == "suggest")


def test_packing_is_suggested_and_nothing_is_written(program, tmp_path):
    """IREE builds it; the finding is what --repair=auto does, and what it does holds."""
    output, emitted, source = tmp_path / "out.vmfb", tmp_path / "repaired.mlir", program(quantised_conv())
    words = (*TARGETS["vulkan"], source, "-o", output, f"--emit-mlir={emitted}")
    done, report = compile_json(*words, "--repair=suggest")
    assert done.returncode == 1 and not output.exists() and not emitted.exists()
    [reported] = [f for f in report["findings"] if f["code"] == "FIS110"]
    assert (
        reported["severity"] == "error"
        and not reported["helps"][0]["applied"]
        and reported["helps"][0]["title"].startswith("pack ")
    )
    done, report = compile_json(*words)
    assert done.returncode == 0 and output.exists() and emitted.exists()
    assert report["findings"] and all(f["severity"] == "repaired" for f in report["findings"])


def test_an_output_that_exists_survives_a_failure(program, tmp_path):
    output = program("precious", "out.vmfb")
    done = fissile("compile", *TARGETS["gfx942"], program(quantised_conv()), "-o", output, "--repair=off")
    assert done.returncode == 1 and output.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.mlir", "out.vmfb"], "no temporary file is left"


# --- passes in the pipeline

USER_PASS = '''
from dataclasses import dataclass
from typing import ClassVar
from fissile.passes.definition import Pass, option, register_pass

@register_pass
@dataclass(frozen=True)
class Throw(Pass):
    """Throws, for a test."""
    name: ClassVar[str] = "test-throw"
    word: str = option("boom", "what to say")

    def run(self, op, report):
        raise ValueError(self.word)
'''


def test_fissile_passes_in_irees_own_option_and_after_a_phase(program, tmp_path):
    source = program(quantised_conv())
    done, report = compile_json(
        *TARGETS["gfx942"],
        source,
        "-o",
        tmp_path / "a.vmfb",
        "--iree-preprocessing-pass-pipeline=builtin.module(canonicalize,fissile-check-leftovers)",
        "--fissile-pipeline-after=global-optimization:builtin.module(fissile-place-boundaries{ops=0},fissile-lower-boundaries)",
    )
    assert done.returncode == 0 and report["findings"] == [], "placed by hand, so there is nothing to repair"


def test_irees_own_preprocessing_pipeline_stays_irees(program, tmp_path):
    source, flag = program(ADD), "--iree-preprocessing-pass-pipeline=builtin.module(canonicalize)"
    assert stock(*TARGETS["llvm-cpu"], flag, source, "-o", tmp_path / "stock.vmfb").returncode == 0
    assert (
        fissile("compile", *TARGETS["llvm-cpu"], flag, source, "-o", tmp_path / "ours.vmfb").returncode == 0
    )
    assert (tmp_path / "ours.vmfb").read_bytes() == (tmp_path / "stock.vmfb").read_bytes()


def test_a_pass_that_throws_is_one_line_and_exit_3(program, tmp_path):
    output = tmp_path / "o.vmfb"
    done = fissile(
        "compile",
        *TARGETS["llvm-cpu"],
        program(ADD),
        "-o",
        output,
        f"--fissile-load-passes={program(USER_PASS, 'mine.py')}",
        "--fissile-pipeline-after=abi:builtin.module(test-throw{word=bang})",
    )
    assert done.returncode == 3 and not output.exists()
    assert "test-throw" in done.stderr and "bang" in done.stderr and "Traceback" not in done.stderr


def test_behind_the_phase_of_repairs_a_failure_says_so(program, tmp_path):
    late, output = tmp_path / "late.mlir", tmp_path / "o.vmfb"
    assert (
        stock(*TARGETS["gfx942"], "--compile-to=flow", program(quantised_conv()), "-o", late).returncode == 0
    )
    done = fissile("compile", *TARGETS["gfx942"], "--compile-from=flow", late, "-o", output)
    assert done.returncode == 1 and not output.exists()
    assert "error[FIS101]" in done.stderr and "--compile-from=flow is behind" in done.stderr


def test_what_a_named_pass_repaired_is_no_suggestion(program, tmp_path):
    tells = USER_PASS.replace(
        "raise ValueError(self.word)", "report(Finding('FIS119', 'sliced', Severity.REPAIRED))"
    ).replace("\nfrom dataclasses", "\nfrom fissile.finding import Finding, Severity\nfrom dataclasses", 1)
    output = tmp_path / "o.vmfb"
    done, report = compile_json(
        *TARGETS["llvm-cpu"],
        program(ADD),
        "-o",
        output,
        "--repair=suggest",
        f"--fissile-load-passes={program(tells, 'mine.py')}",
        "--fissile-pipeline-after=abi:builtin.module(test-throw)",
    )
    assert done.returncode == 0 and output.exists(), report["findings"]
    assert [f["severity"] for f in report["findings"]] == ["repaired"]


def test_a_boundary_written_by_hand_is_honoured(program, tmp_path):
    text = (
        quantised_conv()
        .replace(
            "  %e = tensor.empty()",
            '  %xb = "fissile.boundary"(%xd) : (tensor<1x64x18x18xf32>) -> tensor<1x64x18x18xf32>\n  %e = tensor.empty()',
        )
        .replace("ins(%xd, %wd", "ins(%xb, %wd")
    )
    done, report = compile_json(*TARGETS["gfx942"], program(text), "-o", tmp_path / "o.vmfb")
    assert done.returncode == 0 and report["findings"] == [], "cut by the author, so it fits"


BOUNDARY = ADD.replace(
    "  return %r", '  %k = "fissile.boundary"(%r) : (tensor<4xf32>) -> tensor<4xf32>\n  return %k'
)


def test_an_op_that_the_dialect_lacks_is_refused(program, tmp_path):
    output = tmp_path / "o.vmfb"
    done = fissile(
        "compile", *TARGETS["llvm-cpu"], program(BOUNDARY.replace("boundary", "boundry")), "-o", output
    )
    assert done.returncode == 1 and not output.exists()
    assert "FIS402" in done.stderr and "fissile.boundry" in done.stderr and "in.mlir:3" in done.stderr


def test_a_leftover_op_is_an_error_that_names_it(program, tmp_path):
    """Past the phase where boundaries are lowered: stock IREE crashes on it in dispatch creation."""
    late, output = tmp_path / "late.mlir", tmp_path / "o.vmfb"
    words = [*TARGETS["llvm-cpu"], "--compile-to=global-optimization"]
    assert stock(*words, program(BOUNDARY), "-o", late).returncode == 0
    done = fissile("compile", *TARGETS["llvm-cpu"], "--compile-from=global-optimization", late, "-o", output)
    assert done.returncode == 1 and not output.exists()
    assert (
        "FIS401" in done.stderr
        and "fissile.boundary" in done.stderr
        and "fissile-lower-boundaries" in done.stderr
    )


def test_what_llvm_prints_as_the_process_ends_is_printed(program, tmp_path):
    words = [
        BIN / "fissile",
        "compile",
        *TARGETS["llvm-cpu"],
        "--time-passes",
        program(ADD),
        "-o",
        tmp_path / "o.vmfb",
    ]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=300, check=False
    )  # a forked worker ends otherwise
    assert done.returncode == 0 and "Pass execution timing report" in done.stderr


def test_a_pass_of_the_users_own_has_its_end(program, tmp_path):
    """The worker ends at once, but not before what such a pass has registered for its end."""
    left = tmp_path / "left"
    at_exit = USER_PASS.replace(
        "raise ValueError(self.word)",
        f"import atexit; atexit.register(lambda: open({str(left)!r}, 'w').write('done'))",
    )
    done = fissile(
        "compile",
        *TARGETS["llvm-cpu"],
        program(ADD),
        "-o",
        tmp_path / "o.vmfb",
        f"--fissile-load-passes={program(at_exit, 'mine.py')}",
        "--fissile-pipeline-after=abi:builtin.module(test-throw)",
    )
    assert done.returncode == 0 and left.read_text() == "done", done.stderr


# --- bad input: one line, a way out, the right exit status, nothing half-written

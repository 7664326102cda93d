"""Every repair says what stock IREE does with the program, and quotes it: the words are those of iree-compile on the same file."""

import sys
from pathlib import Path

import pytest
from programs import run_program
from small_programs import TARGETS, quantised_conv

import fissile
from fissile.effect import Effect
from fissile.finding import Finding, Severity
from fissile.pipelines.probe.diagnostics import quoted
from fissile.pipelines.report.text import render, render_finding
from fissile.report import Report

F16_SUM = """
func.func @main(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<64x64xbf16>
  %i = linalg.fill ins(%z : bf16) outs(%e : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %r = linalg.matmul ins(%x, %y : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%i : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %r : tensor<64x64xbf16>
}"""


def stock(source: Path, target: str) -> str:
    program = Path(sys.executable).with_name("iree-compile")
    done = run_program(
        [program, *TARGETS[target], source, "-o", source.with_suffix(".stock")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode
    return done.stderr


@pytest.mark.parametrize(
    ("text", "target"),
    [(quantised_conv(), "gfx942"), (F16_SUM, "gfx942"), (quantised_conv(), "vulkan")],
    ids=("bytes", "code generation", "bytes, on a target that needs packing too"),
)
def test_what_iree_refuses_is_quoted(tmp_path, text, target):
    source = tmp_path / "x.mlir"
    source.write_text(text)
    [done] = [
        f
        for f in fissile.compile(source, tmp_path / "x.vmfb", TARGETS[target], check=False).findings
        if f.severity is Severity.REPAIRED
    ]
    assert done.effect is Effect.REFUSED and done.stock in stock(source, target) and len(done.stock) > 10
    assert render_finding(done).count(done.stock) == 1 and "rejects it" in render_finding(done)


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Effect.REFUSED, "rejects it: out of luck"),
        (Effect.ENDLESS, "does not finish within the time limit: out of luck"),
        (Effect.CRASHES, "crashes on it: out of luck"),
        (Effect.WRONG, "miscompiles it"),
        (Effect.MAY_BE_WRONG, "may miscompile it"),
        (Effect.STALLS, "compiles it correctly, but a call takes"),
        (Effect.SLOW, "compiles it correctly"),
    ],
)
def test_it_says_which(effect, words):
    reported = Finding(
        "FIS108", "code generation fails", Severity.REPAIRED, effect=effect, stock="out of luck"
    )
    assert f"= stock    {words}" in render_finding(reported)


def test_silent_twins():
    """What is not repaired and has no message of IREE's, or has it in its headline, gets no line."""
    assert "= stock" not in render_finding(Finding("FIS127", "threads repeat", effect=Effect.SLOW))
    assert "= stock" not in render_finding(Finding("FIS001", "IREE stops: out of luck", stock="out of luck"))


@pytest.mark.parametrize(
    ("printed", "quote"),
    [
        (
            "failed to legalize operation 'vector.bitcast' that was explicitly marked illegal: %5 = \"vector.bitcast\"(%4) : (vector<4xi8>) -> "
            "vector<1xi32>",
            "failed to legalize operation 'vector.bitcast' that was explicitly marked illegal",
        ),
        (
            'failed to run translation of source executable to target executable for backend #hal.executable.target<"rocm", "rocm-hsaco-fb", '
            '{a = #iree_gpu.target<arch = "x", y = affine_map<(d0) -> (d0)>>}>',
            "failed to run translation of source executable to target "
            "executable for backend #hal.executable.target",
        ),
        ("failed to distribute\nnote: see there", "failed to distribute"),
        ("'func.func' op uses 5 bytes: more than 4", "'func.func' op uses 5 bytes: more than 4"),
    ],
)
def test_a_quote_is_one_line_without_attributes(printed, quote):
    assert quoted(printed) == quote


def test_what_stock_would_build_if_it_did_not_reject_the_program():
    refused = Finding("FIS421", "no lowering", Severity.REPAIRED, stock="failed to legalize")
    wrong = Finding("FIS198", "another offset", Severity.REPAIRED)
    slow = Finding("FIS140", "recomputed", Severity.NOTE)
    both = Report("compile", (refused, wrong, slow))
    assert [both.rejected_for(one) for one in (refused, wrong)] == ["", "FIS421"]
    assert wrong.stock_line("FIS421").startswith("rejects the program for FIS421; otherwise miscompiles it")
    assert "rejects the program for FIS421; otherwise miscompiles it" in render(both)
    assert slow.stock_line(both.rejected_for(slow)) == ""
    assert Report("compile", (wrong, slow)).rejected_for(wrong) == ""
    # What is rejected for another target is said of that one only.
    check = Report("check", (refused.with_(target="gfx942"), wrong.with_(target="sm_80"), wrong))
    assert [check.rejected_for(one) for one in check.findings if one.code == "FIS198"] == ["", ""]

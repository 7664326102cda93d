"""FIS007: an option of the command line is what IREE refuses a program for, and no op of the program is blamed."""

from __future__ import annotations

import pytest
from small_programs import quantised_conv
from test_after_refusal import CPU, findings_of

from fissile.finding import Finding
from fissile.pipelines.audit import blamed_options
from fissile.pipelines.audit.blamed_options import MAX_OPTIONS, blamed

ADDED = """func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
MULTIPLIED = """func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""
CONVOLVED = """func.func @f(%x: tensor<1x18x18x16xf32>, %w: tensor<3x3x16x32xf32>, %o: tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x18x18x16xf32>, tensor<3x3x16x32xf32>)
      outs(%o : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  return %0 : tensor<1x16x16x32xf32>
}
"""
UNKNOWN_OP = """func.func @f(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.operator "torch.aten.no_such"(%a) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
"""
HOST_ONLY = "--iree-execution-model=host-only"
INLINE = ["--iree-hal-target-backends=vmvx-inline"]


def refuses(*bad):
    """A compiler that takes what has none of the options ``bad``; it counts its calls."""

    def compiles(flags):
        compiles.count += 1
        return not set(bad) & set(flags)

    compiles.count = 0
    return compiles


@pytest.mark.parametrize(
    ("flags", "bad", "found", "compiles"),
    [
        ([], [], [], 0),
        (CPU, [], [], 0),
        ([*CPU, "--a"], ["--a"], ["--a"], 2),
        ([*CPU, "--a"], [], [], 2),  # it compiles with the option as well
        (["--a", "--b", "--c", *CPU], ["--b"], ["--b"], 5),
        (["--a", "--b", "--c"], ["--a", "--c"], ["--a", "--c"], 5),
        (["--a", "--b", "--a"], ["--a"], ["--a"], 4),
        (["--a", *CPU], [*CPU], [], 1),
        (["--trace-execution", "--print-x"], ["--print-x"], [], 0),
        ([f"--x{n}" for n in range(MAX_OPTIONS + 1)], ["--x0"], [], 0),
    ],
)
def test_the_smallest_set_that_has_to_go(flags, bad, found, compiles):
    compiler = refuses(*bad)
    assert list(blamed(flags, compiler)) == found
    assert compiler.count == compiles


def test_no_compile_begins_behind_the_time_for_all(monkeypatch):
    monkeypatch.setattr(blamed_options, "SECONDS", 0.0)
    monkeypatch.setattr(
        blamed_options, "compiled_by_fissile", lambda *_words, **_more: pytest.fail("compiled")
    )
    refusal = Finding("FIS001", "x", stock="x")
    found = blamed_options.finding_of_options(
        "m.mlir", [*INLINE, HOST_ONLY], refusal, start="start", dispatch_timeout=30.0
    )
    assert found is None


def compiled(tmp_path, text, *flags):
    return findings_of(tmp_path, text, "compile", *flags, f"-o={tmp_path / 'out.vmfb'}")


def test_an_execution_model_without_devices(tmp_path):
    status, [finding] = compiled(tmp_path, MULTIPLIED, *CPU, "--iree-opt-level=O1", HOST_ONLY)
    assert (status, finding["code"], finding["severity"]) == (1, "FIS007", "error")
    assert HOST_ONLY in finding["message"] and "O1" not in finding["message"] and finding["stock"]
    assert finding["helps"][0]["title"] == f"leave out {HOST_ONLY}"
    assert not (tmp_path / "out.vmfb").exists()


def test_a_compiler_that_an_option_makes_crash(tmp_path):
    status, [finding] = compiled(tmp_path, ADDED, *CPU, HOST_ONLY)
    assert (status, finding["code"]) == (1, "FIS107")
    assert finding["helps"][0]["title"] == f"leave out {HOST_ONLY}"


def test_a_dispatch_that_an_option_leaves_without_code(tmp_path):
    """The finding about the dispatch stays, and says which option it is."""
    option = "--iree-llvmcpu-max-allowed-number-of-native-vectors=1"
    status, [finding] = compiled(tmp_path, CONVOLVED, *CPU, option)
    assert (status, finding["code"]) == (1, "FIS108") and finding["subject"]
    assert finding["helps"][-1]["title"] == f"leave out {option}"


def test_a_target_that_needs_an_execution_model(tmp_path):
    status, [finding] = compiled(tmp_path, ADDED, *INLINE)
    assert (status, finding["code"]) == (1, "FIS007")
    needed = finding["helps"][0]["title"].removeprefix("add ")
    assert compiled(tmp_path, ADDED, *INLINE, needed) == (0, [])


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--target=gfx942", "--iree-flags=--iree-opt-level=O1"),
        ("compile", "--target=gfx942", "--iree-opt-level=O1", "--repair=off"),
    ],
    ids=["check", "compile"],
)
def test_what_fissile_repairs_is_not_the_options_fault(tmp_path, words):
    """Without the option the program compiles, for it is repaired: with the option it is as well."""
    output = [f"-o={tmp_path / 'out.vmfb'}"] if words[0] == "compile" else []
    status, [finding] = findings_of(tmp_path, quantised_conv(), *words, *output)
    assert (status, finding["code"]) == (1, "FIS101")
    assert not any("leave out" in help_["title"] for help_ in finding["helps"])


def test_where_the_time_is_over_before_the_whole_is_compiled_none_is_blamed():
    answers = iter([True, None])
    assert blamed(["--a"], lambda _flags: next(answers)) == ()


def test_check_says_the_same(tmp_path):
    status, [finding] = findings_of(
        tmp_path, MULTIPLIED, "check", "--target=llvm-cpu", f"--iree-flags={HOST_ONLY}"
    )
    assert (status, finding["code"], finding["target"]) == (1, "FIS007", "llvm-cpu")


def test_an_op_that_is_refused_with_any_options(tmp_path):
    status, [finding] = compiled(tmp_path, UNKNOWN_OP, *CPU, "--iree-opt-level=O1")
    assert (status, finding["code"]) == (1, "FIS421")

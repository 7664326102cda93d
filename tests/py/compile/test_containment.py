"""What throws in fissile takes no program along: a fault in every function that a compile calls, in turn."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from effort import everything
from planted_faults import FAULTS, called, compile_here, functions, planted, stocks_bytes
from programs import run_program

from fissile.cli.main import main
from fissile.errors import InternalError, UsageError
from fissile.finding import Severity
from fissile.passes.containment import Containment, NotEnded, contained, contained_change, containing
from fissile.passes.definition import PassFailed

LLVM_CPU = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
VULKAN = ["--iree-hal-target-device=vulkan"]
GFX942 = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]
CONFIGURED = "--compile-to=executable-configurations"
HEALTHY = """
func.func @f(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x32xf32>) outs(%init : tensor<8x32xf32>) -> tensor<8x32xf32>
  %x = math.exp %m : tensor<8x32xf32>
  %s = tensor.extract_slice %x[2, 0] [4, 32] [1, 1] : tensor<8x32xf32> to tensor<4x32xf32>
  return %s : tensor<4x32xf32>
}
"""
CALLED: set[str] = set()
"""Where a fault has been planted already: what an early end of the compile meets is not planted again in a later one."""
FAIL_CLOSED = {
    "passes.analysis.program.embedded_pipelines.may_embed_pipelines",
    "passes.analysis.program.native_code.may_hold_native_code",
}
"""Without their answer no compile may go on, not even stock's: the input might bring code that runs in it."""


@pytest.fixture
def healthy(tmp_path):
    source = tmp_path / "healthy.mlir"
    source.write_text(HEALTHY)
    return lambda flags, end=CONFIGURED: [*flags, end, str(source), "-o", str(tmp_path / "out.mlir")]


@pytest.mark.parametrize(
    ("flags", "end"),
    [(LLVM_CPU, "--compile-to=abi"), (LLVM_CPU, CONFIGURED), (VULKAN, CONFIGURED)],
    ids=["guard", "llvm-cpu", "vulkan"],
)
def test_a_healthy_program_comes_out_as_stocks_wherever_a_fault_is(
    monkeypatch, healthy, tmp_path, flags, end
):
    argv, output = healthy(flags, end), tmp_path / "out.mlir"
    stock = stocks_bytes(argv)
    known, reports = functions(), []
    codes = called(lambda: reports.append(compile_here(monkeypatch, argv)))
    assert reports[0].findings == () and output.read_bytes() == stock
    names = [
        name
        for name, function in known.items()
        if function.__code__ in codes and name not in CALLED and name not in FAIL_CLOSED
    ]
    assert {part for name in {*names, *CALLED} for part in name.split(".")} >= {
        "analysis",
        "checks",
        "compile_run",
        "guarded_compile",
    } and len(names) > 5
    # `make test`: one of each class and module, each time with the next fault.
    sampled = names if everything() else list({name.rpartition(".")[0]: name for name in names}.values())
    for number, name in enumerate(sampled):
        output.unlink()
        with planted(known[name], FAULTS[number % len(FAULTS)]):
            report = compile_here(monkeypatch, argv)
        assert report.exit_code == 0 and output.read_bytes() == stock, name
        found = [finding for finding in report.findings if finding.code in ("FIS902", "FIS903")]
        assert found and all("planted" in finding.message for finding in found), name
    CALLED.update(names)


@pytest.mark.parametrize("name", sorted(FAIL_CLOSED))
def test_what_keeps_code_of_an_input_from_running_fails_closed(monkeypatch, healthy, tmp_path, name):
    with planted(functions()[name]), pytest.raises(Exception, match="planted"):
        compile_here(monkeypatch, healthy(LLVM_CPU))
    assert not (tmp_path / "out.mlir").exists()


def test_a_remedy_that_throws_ends_in_exit_0_or_1(monkeypatch, tmp_path):
    from small_programs import quantised_conv

    source = tmp_path / "conv.mlir"
    source.write_text(quantised_conv())
    argv = [*GFX942, CONFIGURED, str(source), "-o", str(tmp_path / "out.mlir")]
    known, reports = functions(), []
    codes = called(lambda: reports.append(compile_here(monkeypatch, argv)))
    assert reports[0].repaired
    met = [
        name
        for name, function in known.items()
        if function.__code__ in codes and name.startswith(("passes.remedies.", "pipelines.repair."))
    ]
    assert "passes.remedies.fusion.place_boundaries.place_boundaries" in met
    chosen = {
        name.split(".")[2]: name for name in met
    }  # one of each room of remedies and step of a repair: 1 s each
    assert chosen.keys() >= {"fusion", "situation", "strategies", "loop", "after_failure", "trials"}
    for name in chosen.values():
        with planted(known[name]):
            report = compile_here(monkeypatch, argv)
        # A fault in the outcome itself leaves no attempt to make: the program is compiled bare then.
        aside = "FIS903" if ".outcome." in name else "FIS902"
        assert report.exit_code in (0, 1) and any(f.code == aside for f in report.findings), name


def test_strict_makes_it_exit_status_3_with_a_reproducer(monkeypatch, healthy, tmp_path):
    argv = [*healthy(LLVM_CPU), "--strict"]
    with (
        planted(functions()["passes.analysis.dispatch.recomputation.recomputed_producers"]),
        pytest.raises(InternalError) as raised,
    ):
        compile_here(monkeypatch, argv)
    assert (
        raised.value.exit_code == 3
        and "planted" in raised.value.message
        and "fissile compile" in raised.value.reproducer
    )
    assert not (tmp_path / "out.mlir").exists()
    assert compile_here(monkeypatch, argv).exit_code == 0


def test_where_stock_fails_too_its_message_comes_out(monkeypatch, tmp_path):
    source = tmp_path / "unknown.mlir"
    source.write_text(
        'func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = "no.such"(%a) : (tensor<4xf32>) -> tensor<4xf32>'
        " return %0 : tensor<4xf32> }"
    )
    with planted(functions()["pipelines.compile.guarded_compile.GuardedCompile.run"]):
        report = compile_here(monkeypatch, [*LLVM_CPU, str(source), "-o", str(tmp_path / "out.vmfb")])
    assert report.exit_code == 1 and {f.code for f in report.findings} >= {"FIS903"}
    assert any(
        f.severity is Severity.ERROR and "dialect that it does not know" in f.stock for f in report.findings
    )


@pytest.mark.parametrize(
    "fault", ["raise ValueError('planted')", "import os; os.abort()"], ids=["throws", "aborts"]
)
def test_the_command_itself(tmp_path, fault):
    """True processes: the worker throws outside of every question, or its process ends by a signal."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif 'fissile.pipelines.process.worker' in getattr(sys, 'orig_argv', []):\n"
        "    from fissile.pipelines.compile.compile_run import CompileRun\n"
        f"    def look(self, *_):\n        {fault}\n    CompileRun.look = look\n"
    )
    source, ours, stocks = tmp_path / "healthy.mlir", tmp_path / "ours.vmfb", tmp_path / "stocks.vmfb"
    source.write_text(HEALTHY)
    program = Path(sys.executable).parent
    done = run_program(
        [program / "fissile", "compile", *LLVM_CPU, source, "-o", ours],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0 and "warning[FIS903]" in done.stderr and "--strict" in done.stderr
    run_program([program / "iree-compile", *LLVM_CPU, source, "-o", stocks], check=True, capture_output=True)
    assert ours.read_bytes() == stocks.read_bytes()


RUN_BY_FISSILE = "import sys\nif 'fissile.pipelines.process.worker' in getattr(sys, 'orig_argv', []):\n"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (
            # Native code that never returns: no handler of Python's runs there, so SIGPROF ends the process.
            "    from itertools import repeat\n    from fissile.passes.containment import contained\n"
            "    from fissile.pipelines.probe import stock_outcome\n"
            "    contained.__kwdefaults__['cpu_limit'] = 0.5\n"
            "    stock_outcome.recomputed_producers = lambda dispatch: sum(repeat(0))\n",
            "did not end",
        ),
        (
            "    from fissile.pipelines import session\n    def broken(*_args, **_more):\n"
            "        raise ValueError('planted')\n    session.Session.parse = broken\n",
            "planted",
        ),
        (
            "    import os\n    from fissile.pipelines import session\n"
            "    session.Session.parse = lambda *_args, **_more: os.abort()\n",
            "SIGABRT",
        ),
    ],
    ids=["native code without an end", "throws in every worker", "aborts in every worker"],
)
def test_the_last_resort_is_iree_compile(tmp_path, fault, why):
    """True processes. A device to match is left out where nothing else helps, and the warning says so."""
    (tmp_path / "sitecustomize.py").write_text(RUN_BY_FISSILE + fault)
    source, ours, stocks = tmp_path / "healthy.mlir", tmp_path / "ours.vmfb", tmp_path / "stocks.vmfb"
    source.write_text(HEALTHY)
    program = Path(sys.executable).parent
    matched = [] if "sum" in fault else ["--fissile-match-device=vulkan"]
    flags = VULKAN if matched else LLVM_CPU
    done = run_program(
        [program / "fissile", "compile", *flags, *matched, source, "-o", ours],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0 and "warning[FIS903]" in done.stderr and why in done.stderr, done.stderr
    assert bool(matched) == ("not made to match the vulkan device" in done.stderr)
    run_program([program / "iree-compile", *flags, source, "-o", stocks], check=True, capture_output=True)
    assert ours.read_bytes() == stocks.read_bytes()


def test_check_says_what_it_did_not_check(tmp_path):
    from fissile.pipelines.check.entry import check

    source = tmp_path / "healthy.mlir"
    source.write_text(HEALTHY)
    with planted(functions()["passes.analysis.memory.predict.predict"]):
        report = check(source, ["llvm-cpu"], probe="never")
    assert report.exit_code == 0 and {f.code for f in report.findings} == {"FIS902"}
    assert report.facts["targets"][0]["dispatches"][0]["doubts"] == ["the prediction failed"]
    with planted(functions()["passes.analysis.dispatch.provenance.tag_source_ops"]):
        whole = check(source, ["llvm-cpu"], probe="never")
    assert whole.exit_code == 1 and [f.code for f in whole.findings] == ["FIS903"]
    assert not check(source, ["llvm-cpu"], probe="never").findings


def test_the_manual_has_both(capsys):
    assert main(["explain", "FIS902"]) == 0 and main(["explain", "FIS903"]) == 0
    assert "--strict" in capsys.readouterr().out


def test_a_question_without_an_answer_is_kept_once():
    def fails():
        raise KeyError("no such op")

    with containing(Containment("fissile compile x.mlir")) as containment:
        assert [contained("sizes", fails, 7, about="tensor.pad") for _ in range(3)] == [7, 7, 7]
        assert contained("sizes", lambda: 8, 7) == 8
    (finding,) = containment.missed
    assert finding.code == "FIS902" and finding.severity is Severity.WARNING
    assert finding.message == "not checked: sizes of tensor.pad: KeyError: 'no such op'"
    assert any("fissile compile x.mlir" in note for note in finding.notes) and "Traceback" in finding.detail
    with pytest.raises(KeyError):
        contained("sizes", fails, 7)  # no containment: a test, fissile-opt


def test_a_question_that_does_not_end_is_one_that_throws():
    def spins():
        while True:
            pass

    with containing(Containment()) as containment:
        assert contained("sizes", spins, "nothing", cpu_limit=0.05) == "nothing"
        assert contained("sizes", lambda: contained("inner", spins, "inner"), "outer", cpu_limit=0.05) in (
            "inner",
            "outer",
        )
    assert all(NotEnded.__name__ in finding.message for finding in containment.missed) and containment.missed


def test_answers_pass_and_a_half_changed_module_is_left():
    def refuses():
        raise PassFailed(())

    def misused():
        raise UsageError("no such device")

    def breaks():
        raise RuntimeError("half done")

    with containing(Containment()) as containment:
        with pytest.raises(PassFailed):
            contained("x", refuses, None)
        with pytest.raises(UsageError):
            contained("x", misused, None, usage=True)
        assert contained("x", misused, "otherwise") == "otherwise"
        done: list[str] = []
        assert contained_change("the step 'storage guard'", breaks, lambda: done.append("put back"), ()) == ()
    assert done == ["put back"] and len(containment.missed) == 2
    assert "put back" in containment.missed[1].notes[0]

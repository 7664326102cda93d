"""Lifetimes in programs as IREE schedules them: `check --memory`, `compile --check-lifetimes`, releases of stream resources."""

import json

import jsonschema
import numpy as np
import pytest
from iree.compiler import ir

import fissile
from bench.lifetime import transients
from bench.lifetime.native_passes import STREAM_PROGRAMS
from bench.lifetime.suite import new_context
from fissile.cli.main import main
from fissile.dialect import ops_of
from fissile.passes.checks.storage.lifetimes import lifetime_findings
from fissile.passes.remedies.lifetime.insert_kills import InsertKills
from fissile.pipelines.report.json_schema import CHECK_REPORT

MATMUL = "linalg.matmul ins({}, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>"
LOOP = f"""\
func.func @main(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>, %n: index) -> tensor<16x16xf32> {{
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %first = {MATMUL.format("%x")}
  %second = {MATMUL.format("%first")}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %second) -> tensor<16x16xf32> {{
    %next = {MATMUL.format("%q")}
    scf.yield %next : tensor<16x16xf32>
  }}
  %last = linalg.matmul ins(%r, %first : tensor<16x16xf32>, tensor<16x16xf32>)
      outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %last : tensor<16x16xf32>
}}
"""

CARRIED = """\
func.func @main(%x: tensor<64x64xf32>, %rounds: tensor<i32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %many = tensor.extract %rounds[] : tensor<i32>
  %n = arith.index_cast %many : i32 to index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %x) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %next = linalg.matmul ins(%q, %q : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
"""


@pytest.fixture
def loop(tmp_path):
    file = tmp_path / "loop.mlir"
    file.write_text(LOOP)
    return str(file)


def test_check_prints_live_bytes_with_the_programs_names(loop, capsys):
    assert main(["check", loop, "--target", "llvm-cpu", "--probe=never", "--memory", "--format=json"]) == 0
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, CHECK_REPORT)
    [memory] = report["facts"]["targets"][0]["memory"]
    # %first and %second in one allocation, what the loop carries, its successor: each 16 * 16 * 4 bytes.
    assert memory["peak"] >= 3 * 1024 and memory["peak"] >= memory["bound"] > 0
    named = {name for one in memory["alive"] for name in one["tensors"]}
    assert {"%first", "%next"} <= named
    assert memory["peak"] == max(one["live"] for one in memory["over_time"])
    assert memory["peak"] == sum(one["bytes"] for one in memory["alive"])


def test_without_the_option_no_memory_is_reported(loop, capsys):
    assert main(["check", loop, "--target", "llvm-cpu", "--probe=never"]) == 0
    assert "live bytes" not in capsys.readouterr().out


def test_compile_reports_transients_that_are_not_deallocated(loop, tmp_path, capfd):
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    status = main(["compile", loop, "-o", str(tmp_path / "out.vmfb"), *flags, "--check-lifetimes"])
    printed = capfd.readouterr().err
    assert status == 0, printed
    assert "note[FIS308] peak of live bytes in 'main'" in printed
    assert "is not deallocated on every path" in printed


def test_what_a_loop_carries_is_at_its_bound_without_a_deallocation(tmp_path):
    """Stock IREE deallocates nothing of it: the last reference frees it in time, however many rounds there are."""
    source = tmp_path / "carried.mlir"
    source.write_text(CARRIED)
    report = fissile.check(source, "llvm-cpu", probe="never", memory=True).report
    [memory] = report.facts["targets"][0]["memory"]
    assert memory["peak"] == memory["bound"]
    image = np.eye(64, dtype=np.float32)
    few, many = (
        transients.Program("carried", source, [image, np.array(rounds, np.int32)], "main")
        for rounds in (2, 60)
    )
    module, _slabs = transients.compiled(few, "llvm-cpu", packed=False)
    [first, last] = [transients.measured(one, module, "local-sync") for one in (few, many)]
    assert first.outputs == last.outputs
    # The caller's tensor, its counter, and what the check counts.
    assert first.peak == last.peak <= image.nbytes + 4 + memory["peak"]


@pytest.mark.parametrize("name", STREAM_PROGRAMS)
def test_stream_resources(name):
    """Deallocated once, behind all work; or left alone, where the work's timepoint is not known at one place."""
    context = new_context()
    module = ir.Module.parse(STREAM_PROGRAMS[name], context=context).operation
    printed = []
    with context, ir.Location.unknown(context):
        InsertKills().run(module, printed.append)
    assert module.verify()
    assert not [f for f in lifetime_findings(module) if f.code != "FIS308"]
    straight = "branch" not in name and "loop" not in name
    assert bool(ops_of(module, "stream.resource.dealloca")) == straight
    assert [f.code for f in printed] == [] if straight else {f.code for f in printed} == {"FIS310"}


def test_a_deallocation_that_does_not_wait_for_all_work_is_found():
    context = new_context()
    module = ir.Module.parse(STREAM_PROGRAMS["two uses, not ordered"], context=context).operation
    with context, ir.Location.unknown(context):
        InsertKills().run(module, pytest.fail)
    assert lifetime_findings(module) == []
    [release] = ops_of(module, "stream.resource.dealloca")
    first = ops_of(module, "stream.cmd.execute")[0]
    release.operands[len(release.operands) - 1] = first.results[0]
    assert [f.code for f in lifetime_findings(module)] == ["FIS307"]


def test_a_deallocation_that_other_work_waits_for_stays():
    """IREE chains work behind deallocations: one that is there is not moved, and no second one is added."""
    text = STREAM_PROGRAMS["one use"].replace(
        "  util.return %t1",
        "  %t9 = stream.resource.dealloca await(%t1) => %r : !stream.resource<transient>{%c64} => !stream.timepoint\n"
        "  util.return %t9",
    )
    context = new_context()
    module = ir.Module.parse(text, context=context).operation
    before = str(module)
    with context, ir.Location.unknown(context):
        InsertKills().run(module, pytest.fail)
    assert str(module) == before
    assert lifetime_findings(module) == []

"""`fissile compile --verify-contracts`: IREE's phases keep their contracts, and the pass that breaks one is named with a reproducer."""

import json
import shlex

import pytest
from iree.compiler import ir

from fissile.cli.main import main
from fissile.dialect import ops_of
from fissile.passes import definition
from fissile.passes.definition import Offence, PassFailed, define_property
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.contracts import known_properties
from fissile.pipelines.contracts.phases import PhaseWatch, steps_of
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.phase_pipeline import PhasePipeline
from fissile.pipelines.session import Session
from fissile.target import find_target

FLAGS = flags_for(find_target("llvm-cpu"))
PROGRAM = """
func.func @main(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.softmax dimension(1) ins(%0 : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "main.mlir"
    file.write_text(PROGRAM)
    return file


@pytest.fixture
def no_allocation(monkeypatch):
    """A property that IREE breaks in the middle of phase stream: it stands for a mistake of a pass."""
    known_properties()
    monkeypatch.setattr(definition, "_PROPERTIES", dict(definition._PROPERTIES))
    return define_property("test-no-allocation", "nothing is allocated on a device")(
        lambda op: [Offence(f"{found.name} allocates") for found in ops_of(op, "stream.resource.alloca")]
    )


def test_a_healthy_compile_breaks_nothing_and_is_the_same(program, tmp_path, capsys):
    for name, words in (("plain", []), ("watched", ["--verify-contracts"])):
        status = main(["compile", str(program), "-o", str(tmp_path / name), *FLAGS, *words, "--format=json"])
        assert (status, json.loads(capsys.readouterr().out)["findings"]) == (0, [])
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "watched").read_bytes()


def test_a_front_end_whose_ops_become_structured_ones_breaks_nothing(tmp_path, capsys):
    # Before phase input there is no structured op outside of a dispatch, behind it there is.
    file = tmp_path / "tosa.mlir"
    file.write_text(
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = tosa.log %a : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    )
    words = ["compile", str(file), "-o", str(tmp_path / "out.vmfb"), *FLAGS, "--verify-contracts"]
    assert (main([*words, "--format=json"]), json.loads(capsys.readouterr().out)["findings"]) == (0, [])


def test_the_pass_of_iree_that_breaks_a_property_is_named_with_a_reproducer(
    program, tmp_path, monkeypatch, no_allocation
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    session = Session(FLAGS)
    module = session.parse(program)
    with pytest.raises(PassFailed) as stopped:
        PhasePipeline(session, verify_contracts=True).advance(module, "hal")
    [finding] = stopped.value.findings
    assert finding.code == "FIS502" and finding.subject == "iree-stream-schedule-allocation"
    assert finding.message == (
        "pass 'iree-stream-schedule-allocation' of phase 'stream' broke test-no-allocation: nothing is allocated on a device"
    )
    [command] = [note for note in finding.notes if note.startswith("shows it again: ")]
    words = shlex.split(command.removeprefix("shows it again: "))
    [pipeline] = [word for word in words if word.startswith("--pass-pipeline=")]
    # The IR from before that pass has the property, and the pass alone breaks it.
    before = ir.Module.parse(open(words[1]).read(), context=session.context).operation
    assert no_allocation.holds(before)
    with pytest.raises(PassFailed) as again:
        run_pipeline(
            pipeline.removeprefix("--pass-pipeline="), before, report=pytest.fail, verify_contracts=True
        )
    assert again.value.findings[0].subject == "iree-stream-schedule-allocation"


def test_the_passes_of_a_phase_end_in_what_the_phase_makes(program):
    session = Session(FLAGS)
    module = session.run(session.parse(program), "flow")
    copy = module.clone()
    steps = list(steps_of(copy.op, "stream"))
    session.run(module, "stream")
    assert copy.text() == module.text()
    names = [step.name for step in steps]
    assert names.index("iree-stream-conversion") < names.index("iree-stream-schedule-allocation")
    assert "cse" in names  # a pass on functions
    # Each step begins with what the one before it left.
    assert all(step.before != step.after for step in steps)


def test_a_phase_without_a_named_pipeline_is_named_itself(program, monkeypatch, no_allocation):
    monkeypatch.setattr("fissile.pipelines.contracts.phases.PHASE_PIPELINES", {})
    session = Session(FLAGS)
    module = session.run(session.parse(program), "flow")
    watch = PhaseWatch(module.op, "stream")
    session.run(module, "stream")
    [finding] = watch.after(module.op)
    assert finding.subject == "phase stream" and finding.message.startswith("phase 'stream' broke test-no-")

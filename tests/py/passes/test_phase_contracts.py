"""`fissile compile --verify-contracts`: IREE's phases keep their contracts, and the pass that breaks one is named with a reproducer."""

import json
import shlex

import pytest
from iree.compiler import ir

from fissile.cli.main import main
from fissile.cli.opt import main as main_opt
from fissile.dialect import ops_of
from fissile.passes import definition
from fissile.passes.definition import Offence, PassFailed, define_property
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.contracts import known_properties, watching
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
    prop = define_property("test-no-allocation", "nothing is allocated on a device")(
        lambda op: [Offence(f"{found.name} allocates") for found in ops_of(op, "stream.resource.alloca")]
    )
    with watching([prop]):
        yield prop


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


FILL = """
func.func @main(%n: index) -> tensor<?xi64> {
  %one = arith.constant -1 : i64
  %e = tensor.empty(%n) : tensor<?xi64>
  %0 = linalg.fill ins(%one : i64) outs(%e : tensor<?xi64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}
"""
GATHER = """
func.func @main(%a: tensor<10x10xi32>, %i: tensor<1xi32>) -> tensor<10xi32> {
  %e = tensor.empty() : tensor<10xi32>
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%a, %i : tensor<10x10xi32>, tensor<1xi32>) outs(%e : tensor<10xi32>) -> tensor<10xi32>
  return %0 : tensor<10xi32>
}
"""


@pytest.mark.parametrize("text", [FILL, GATHER], ids=["late dispatch", "late buffers"])
def test_what_iree_makes_late_breaks_nothing(text, tmp_path, capsys):
    # A fill of 64 bits is a dispatch from phase stream on; a gather alone has buffers before the dispatch is configured.
    file = tmp_path / "late.mlir"
    file.write_text(text)
    words = ["compile", str(file), "-o", str(tmp_path / "out.vmfb"), *FLAGS, "--verify-contracts"]
    found = main([*words, "--format=json"]), json.loads(capsys.readouterr().out)["findings"]
    assert found[0] == 0 and not [one for one in found[1] if one["code"] == "FIS502"]


WRONG = """
from dataclasses import dataclass
from typing import ClassVar
from fissile.dialect import ops_of
from fissile.passes.definition import Contract, Pass, register_pass
from fissile.passes.properties import FULLY_TYPED
from iree.compiler import ir

@register_pass
@dataclass(frozen=True)
class Blur(Pass):
    "Loses the rank of a sum."
    name: ClassVar[str] = "blur"
    contract: ClassVar[Contract] = Contract()

    def run(self, op, report):
        [add] = ops_of(op, "arith.addf")
        with op.context, add.location:
            blurred = ir.Type.parse("tensor<*xf32>")
            at = ir.InsertionPoint.after(add)
            cast = ir.Operation.create("tensor.cast", [blurred], [add.result], ip=at)
            back = ir.Operation.create("tensor.cast", [add.result.type], [cast.result], ip=at)
            add.result.replace_all_uses_except(back.result, cast)
"""


def test_the_reproducer_stays_when_the_command_is_over(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source, passes = tmp_path / "add.mlir", tmp_path / "blur.py"
    source.write_text(
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = arith.addf %a, %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    )
    passes.write_text(WRONG)
    words = ["compile", str(source), "-o", str(tmp_path / "out.vmfb"), *FLAGS, "--verify-contracts"]
    words += [f"--fissile-load-passes={passes}", "--iree-preprocessing-pass-pipeline=builtin.module(blur)"]
    assert main([*words, "--format=json"]) == 1
    [finding] = json.loads(capsys.readouterr().out)["findings"]
    assert finding["code"] == "FIS502" and "fully-typed" in finding["message"]
    [command] = [note for note in finding["notes"] if note.startswith("shows it again: ")]
    assert main_opt(shlex.split(command.removeprefix("shows it again: "))[1:]) == 1
    assert "FIS502" in capsys.readouterr().err


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
    assert words[-1] == "--verify-property=test-no-allocation"
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

"""A session over IREE's compiler, in process."""

from __future__ import annotations

import pytest
from small_programs import ADD, TARGETS, quantised_conv

from fissile.errors import UsageError
from fissile.pipelines.session import PhaseFailed, Session


@pytest.fixture(scope="module")
def session():
    return Session(TARGETS["llvm-cpu"])


def test_stops_at_any_phase_and_resumes(session, tmp_path):
    straight, stepped = (session.parse_text(ADD) for _ in range(2))
    session.run(straight, "end")
    for phase in ("input", "global-optimization", "flow", "executable-configurations", "end"):
        session.run(stepped, phase)
        assert stepped.phase == phase
    session.write(straight, tmp_path / "a.vmfb")
    session.write(stepped, tmp_path / "b.vmfb")
    assert (tmp_path / "a.vmfb").read_bytes() == (tmp_path / "b.vmfb").read_bytes()


def test_a_module_is_live_between_phases(session):
    module = session.parse_text(ADD)
    session.run(module, "preprocessing")
    names = []
    module.op.walk(
        lambda op: (names.append(op.name), __import__("iree.compiler.ir").compiler.ir.WalkResult.ADVANCE)[1]
    )
    assert "arith.addf" in names or "linalg.generic" in names


def test_a_clone_is_independent(session):
    module = session.parse_text(ADD)
    clone = module.clone()
    session.run(clone, "flow")
    assert module.phase == "start" and "arith.addf" in module.text()


def test_diagnostics_are_captured_with_their_places_not_printed(capfd):
    session = Session(TARGETS["vulkan"])
    module = session.parse_text(quantised_conv(), "conv.mlir")
    with pytest.raises(PhaseFailed) as failure:
        session.run(module, "end")
    first = failure.value.errors[0]
    assert "bytes of shared memory" in first.message
    assert first.places[0].file == "conv.mlir" and first.places[0].line > 1
    assert capfd.readouterr() == ("", "")


FFT = """
func.func @main(%x: tensor<1x8x8xf32>) -> (tensor<1x8x5xf32>, tensor<1x8x5xf32>) {
  %a, %b = "tosa.rfft2d"(%x) : (tensor<1x8x8xf32>) -> (tensor<1x8x5xf32>, tensor<1x8x5xf32>)
  return %a, %b : tensor<1x8x5xf32>, tensor<1x8x5xf32>
}
"""


def test_a_stop_on_the_way_changes_no_op():
    """The index dialect is loaded by a later phase than the one that creates its ops."""
    texts = []
    for stops in ((), ("input", "abi", "preprocessing")):
        session = Session(TARGETS["llvm-cpu"])
        module = session.parse_text(FFT)
        for phase in (*stops, "global-optimization"):
            session.run(module, phase)
        texts.append(module.text())
    assert "index.mul" in texts[0] and texts[0] == texts[1]


def test_a_syntax_error_has_its_place(session):
    with pytest.raises(PhaseFailed) as failure:
        session.parse_text("func.func @f( {\n}", "bad.mlir")
    assert failure.value.phase == "start"
    assert failure.value.errors[0].places[0].file == "bad.mlir"


def test_a_session_survives_a_failure(session):
    with pytest.raises(PhaseFailed):
        session.parse_text("nonsense")
    assert session.run(session.parse_text(ADD), "flow").phase == "flow"


@pytest.mark.parametrize(
    "flag, hint",
    [("--iree-hal-target-devic=vulkan", "--iree-hal-target-device"), ("--mlir-timing", "fissile compile")],
)
def test_an_unknown_session_flag_is_refused_with_a_way_out(flag, hint):
    with pytest.raises(UsageError) as error:
        Session([flag])
    assert flag.split("=")[0] in error.value.message and hint in error.value.hint


def test_going_back_is_refused(session):
    module = session.run(session.parse_text(ADD), "flow")
    with pytest.raises(UsageError, match="cannot go back"):
        session.run(module, "abi")


def test_an_unknown_phase_names_the_nearest(session):
    with pytest.raises(UsageError) as error:
        session.run(session.parse_text(ADD), "dispatch-creatoin")
    assert "dispatch-creation" in error.value.hint

"""`fissile audit`: the op that IREE refuses is named at its line; programs that IREE compiles have no finding."""

from __future__ import annotations

import json

import legality_programs as programs_of
from programs import run_program


def audit(tmp_path, text, *words, target="llvm-cpu"):
    """The exit status, and the findings as JSON values."""
    file = tmp_path / "model.mlir"
    file.write_text(text)
    done = run_program(
        ["fissile", "audit", file, "--target", target, "--format=json", *words],
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)["findings"]


def lines_of(finding):
    return [place["line"] for place in finding["places"]]


def test_the_op_is_blamed_and_not_the_literal_that_iree_names(tmp_path):
    status, [finding] = audit(tmp_path, programs_of.AND)
    assert (status, finding["code"], finding["subject"]) == (1, "FIS407", "torch.aten.__and__.Tensor")
    assert (
        lines_of(finding) == [8]
        and "torch.vtensor.literal" in finding["stock"]
        and ":7:8" in finding["stock"]
    )


def test_a_scalar_op_in_a_body_is_blamed_at_its_line(tmp_path):
    status, [finding] = audit(tmp_path, programs_of.REDUCE)
    assert (status, finding["code"]) == (1, "FIS409")
    assert finding["message"].startswith("gpu.subgroup_reduce (in linalg.generic)")
    assert lines_of(finding) == [8, 4] and any(
        note.startswith("IREE stops in pass") for note in finding["notes"]
    )


def test_what_fissile_repairs_is_a_note(tmp_path):
    status, [finding] = audit(tmp_path, programs_of.ERFC)
    assert (status, finding["code"], finding["severity"]) == (0, "FIS409", "note")
    assert any(note.startswith("handled later") for note in finding["notes"])


def test_an_unknown_op_does_not_hide_the_others(tmp_path):
    both = programs_of.REDUCE.replace("%e = tensor", '"foo.bar"(%a) : (tensor<4xf32>) -> ()\n  %e = tensor')
    status, findings = audit(tmp_path, both)
    assert status == 1 and {f["code"] for f in findings} == {"FIS406", "FIS409"}


def test_an_unknown_op_in_a_body_is_unknown_and_not_put_down_to_the_target(tmp_path):
    in_body = programs_of.ERFC.replace("math.erfc %n : f32", '"foo.scalar"(%n) : (f32) -> f32')
    assert "foo.scalar" in in_body
    status, [finding] = audit(tmp_path, in_body)
    assert (status, finding["code"]) == (1, "FIS406")
    assert finding["message"] == "foo.scalar (in linalg.generic) is unknown: IREE has no op 'foo.scalar'"


def test_what_iree_refuses_as_it_writes_the_program_is_the_op_and_not_the_function(tmp_path):
    printing = "func.func @main(%a: f32) {\n  vector.print %a : f32\n  return\n}\n"
    status, [finding] = audit(tmp_path, printing)
    assert (status, finding["code"], finding["subject"]) == (1, "FIS409", "vector.print")
    assert lines_of(finding) == [2] and not any("uses its result" in note for note in finding["notes"])


def test_dead_code_is_a_warning_and_with_strict_an_error(tmp_path):
    status, [finding] = audit(tmp_path, programs_of.DEAD)
    assert (status, finding["code"], finding["severity"]) == (0, "FIS412", "warning")
    status, [finding] = audit(tmp_path, programs_of.DEAD, "--strict")
    assert (status, finding["code"], finding["severity"]) == (1, "FIS412", "error")


def test_an_unused_op_that_is_not_removed_is_an_error_and_reported_to_stay(tmp_path):
    status, [finding] = audit(tmp_path, programs_of.STAYS)
    assert (status, finding["code"]) == (1, "FIS407")
    assert any(note.startswith("nothing uses its result; it stays") for note in finding["notes"])


def test_a_way_out_leads_to_the_end(tmp_path):
    """With --iree-input-type=none the import takes everything, and a later phase refuses it."""
    _status, [finding] = audit(tmp_path, programs_of.AND)
    assert [h["title"] for h in finding["helps"]] == ["have the exporter decompose it"]


def test_a_reproducer_is_a_program_that_stock_iree_refuses(tmp_path):
    audit(tmp_path, programs_of.AND, f"--reproducers={tmp_path / 'repro'}")
    [file] = (tmp_path / "repro").iterdir()
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    done = run_program(["iree-compile", *flags, file, "-o", "/dev/null"], capture_output=True, text=True)
    assert done.returncode != 0 and "torch.aten.__and__.Tensor" in done.stderr
    control = tmp_path / "taken.mlir"
    control.write_text(file.read_text().replace("aten.__and__.Tensor", "aten.bitwise_and.Tensor"))
    assert run_program(["iree-compile", *flags, control, "-o", "/dev/null"]).returncode == 0


def test_a_value_of_the_front_end_without_a_rank_is_blamed_and_not_its_reader(tmp_path):
    status, [finding] = audit(tmp_path, programs_of.UNRANKED_TORCH)
    assert (status, finding["code"], finding["subject"]) == (1, "FIS411", "argument 0 of @main")
    assert lines_of(finding) == [2, 3] and "needed by: torch.aten.relu" in finding["notes"]


def test_an_element_type_that_the_model_leaves_open_is_named(tmp_path):
    status, [finding] = audit(tmp_path, programs_of.OPEN_TYPE)
    assert (status, finding["code"]) == (1, "FIS410")
    assert [h["title"] for h in finding["helps"]] == [
        "give the tensors an element type in the model, such as f32"
    ]

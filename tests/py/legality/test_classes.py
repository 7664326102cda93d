"""One run of `fissile audit` finds an op of every class, each with its line, its way out and its class."""

from __future__ import annotations

import json

import legality_programs as programs_of
import pytest
from programs import run_program

FLAG = "--iree-torch-decompose-complex-ops=false"


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """Those of MIXED, by rule."""
    file = tmp_path_factory.mktemp("mixed") / "model.mlir"
    file.write_text(programs_of.MIXED)
    done = run_program(
        ["fissile", "audit", file, "--target=llvm-cpu", f"--iree-flags={FLAG}", "--format=json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    return {(f["code"], f["subject"]): f for f in json.loads(done.stdout)["findings"]}


PLANTED = {
    ("FIS406", "foo.bar"): ("foo.bar", "unknown op or dialect"),
    ("FIS407", "torch.aten.__and__.Tensor"): ("torch.aten.__and__", "wrong front end"),
    ("FIS408", "torch.aten.hardswish"): ("torch.aten.hardswish", "must be handled now"),
    ("FIS409", "linalg.generic"): ("gpu.subgroup_reduce add", "not supported on this target"),
    ("FIS410", "linalg.generic"): ("math.sqrt", "missing type information: element type"),
    ("FIS410", "argument 0 of @element"): ("func.func @element", "missing type information: element type"),
    ("FIS410", "result 0 of @element"): ("func.func @element", "missing type information: element type"),
    ("FIS411", "stablehlo.fft"): ("stablehlo.fft", "missing type information: shape"),
    ("FIS412", "linalg.generic"): ("gpu.subgroup_reduce mul", "dead code"),
}
"""Rule and op -> what stands on the line to blame, and the class."""


def test_all_are_found_in_one_run_and_nothing_else(findings):
    assert set(findings) == set(PLANTED)


@pytest.mark.parametrize("key", PLANTED)
def test_each_is_blamed_at_its_line_with_its_class(findings, key):
    text, kind = PLANTED[key]
    line = findings[key]["places"][0]["line"]
    assert text in programs_of.MIXED.splitlines()[line - 1]
    assert f"class: {kind}" in findings[key]["notes"]
    assert findings[key]["severity"] == ("warning" if key[0] == "FIS412" else "error")


@pytest.mark.parametrize(
    ("key", "way_out"),
    [
        (("FIS407", "torch.aten.__and__.Tensor"), "have the exporter decompose it"),
        (("FIS408", "torch.aten.hardswish"), "compile with --iree-torch-decompose-complex-ops=true"),
        (("FIS410", "linalg.generic"), "use f32 instead of f4E2M1FN"),
        (("FIS411", "stablehlo.fft"), "give its operands static sizes"),
        (("FIS412", "linalg.generic"), "remove the op"),
    ],
)
def test_the_way_out_was_seen_to_help(findings, key, way_out):
    helps = {one["title"]: dict(one["facts"]) for one in findings[key]["helps"]}
    assert way_out in helps
    if key[0] in ("FIS408", "FIS410", "FIS411"):
        assert helps[way_out]["checked"].startswith("IREE compiles the op alone")


def test_a_value_without_a_rank_is_named_with_what_needs_it(tmp_path):
    (tmp_path / "model.mlir").write_text(programs_of.UNRANKED)
    done = run_program(
        ["fissile", "audit", tmp_path / "model.mlir", "--target=llvm-cpu", "--format=json"],
        capture_output=True,
        text=True,
    )
    [finding] = [f for f in json.loads(done.stdout)["findings"] if f["severity"] == "error"]
    assert (done.returncode, finding["code"], finding["subject"]) == (1, "FIS411", "argument 0 of @main")
    assert [place["line"] for place in finding["places"]] == [2, 3]
    assert "needed by: math.exp" in finding["notes"]


def test_what_is_refused_in_context_is_the_smallest_part_of_the_program(tmp_path):
    (tmp_path / "model.mlir").write_text(programs_of.IN_CONTEXT)
    folder = tmp_path / "reproducers"
    words = ["--target=vulkan", f"--reproducers={folder}", "--format=json"]
    done = run_program(["fissile", "audit", tmp_path / "model.mlir", *words], capture_output=True, text=True)
    [finding] = json.loads(done.stdout)["findings"]
    assert (done.returncode, finding["code"], finding["severity"]) == (0, "FIS414", "note"), finding
    assert "handled later: `fissile compile` repairs the part alone" in finding["notes"]
    assert "smallest part that fails: linalg.generic, linalg.matmul" in finding["notes"]
    assert {"pass: iree-convert-to-spirv", "phase: before executable-targets"} <= set(finding["notes"])
    assert [place["line"] for place in finding["places"]] == [13, 4]
    assert "standalone program that IREE refuses:" in finding["detail"] and "arith.extf" in finding["detail"]
    [file] = folder.iterdir()
    assert "arith.extf" in file.read_text() and "math.exp" not in file.read_text()


def test_types_that_no_function_takes_hide_no_op(tmp_path):
    (tmp_path / "model.mlir").write_text(programs_of.LISTS)
    done = run_program(
        ["fissile", "audit", tmp_path / "model.mlir", "--target=llvm-cpu", "--format=json"],
        capture_output=True,
        text=True,
    )
    found = {(f["code"], f["subject"]): f["places"][0]["line"] for f in json.loads(done.stdout)["findings"]}
    planted = {("FIS407", "argument 0 of @optional"): 2, ("FIS407", "torch.aten.no_such_list"): 8}
    assert planted.items() <= found.items()

"""A compile is a list of named attempts, each of which returns an outcome; nothing is steered by an exception or from outside."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from planted_faults import compile_here, functions, planted
from small_programs import quantised_conv

from fissile.pipelines.compile.guarded_compile import ATTEMPTS
from fissile.pipelines.repair.outcome import Outcome

ROOT = Path(__file__).resolve().parents[3]
STEERING = ("compile", "repair", "probe", "reduce", "check")
GFX942 = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]
VULKAN = ["--iree-hal-target-device=vulkan"]
CONFIGURED = "--compile-to=executable-configurations"
NARROW = """
func.func @f(%x: tensor<64x64xi8>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xi8>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: i8, %out: f32):
    %f = arith.sitofp %in : i8 to f32
    linalg.yield %f : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
"""
HEALTHY = """
func.func @f(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %x = math.exp %a : tensor<8x16xf32>
  return %x : tensor<8x16xf32>
}
"""


@pytest.fixture
def made(monkeypatch, tmp_path):
    """The report of a program that is compiled in this process until its dispatches are configured."""

    def compiled(program: str, flags: list[str], *more: str):
        source = tmp_path / "in.mlir"
        source.write_text(program)
        argv = [*flags, CONFIGURED, *more, str(source), "-o", str(tmp_path / "out.mlir")]
        return compile_here(monkeypatch, argv)

    return compiled


@pytest.mark.parametrize(
    ("program", "flags", "attempts"),
    [
        (HEALTHY, GFX942, ["direct"]),
        (quantised_conv(), GFX942, ["direct", "packed", "repaired", "report"]),
        (NARROW, VULKAN, ["direct", "packed"]),
    ],
    ids=["healthy", "repaired", "packed"],
)
def test_attempts_are_made_until_one_has_the_answer(made, program, flags, attempts):
    report = made(program, flags)
    assert report.exit_code == 0 and report.facts["attempts"] == attempts
    assert report.repaired == (attempts != ["direct"])


def test_an_attempt_that_throws_leaves_the_program_as_stock_has_it(made):
    name = "pipelines.repair.after_failure.AfterFailure.repaired"
    with planted(functions()[name]):
        report = made(quantised_conv(), GFX942)
    assert report.facts["attempts"] == ["direct", "packed", "repaired", "as it is"]
    assert [f.code for f in report.findings] == ["FIS902"]


def test_every_attempt_has_a_name_of_its_own():
    names = [attempt.name for attempt in ATTEMPTS]
    assert len(set(names)) == len(names) and names[0] == "direct"
    assert Outcome().answered(()).over and not Outcome().over


def test_a_step_that_throws_midway_leaves_the_module_as_it_was(made, monkeypatch):
    """The guard has put its checks into the module when it throws: they are gone, and the rest of the compile goes on."""
    from fissile.pipelines.compile.hooks import guard

    sliced = (
        HEALTHY.replace("tensor<8x16xf32>)", "tensor<8x16xf32>, %n: index)")
        .replace(
            "return %x",
            "%s = tensor.extract_slice %x[%n, 0] [4, 16] [1, 1] : tensor<8x16xf32> to tensor<4x16xf32>\n  return %s",
        )
        .replace("-> tensor<8x16xf32> {", "-> tensor<4x16xf32> {")
        .replace("%s : tensor<8x16xf32>", "%s : tensor<4x16xf32>")
    )
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    guarded = made(sliced, flags)
    with_checks = Path(guarded.output).read_bytes()
    assert guarded.facts["storage_checks"]["asserts"] == 1

    def throws(*_):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(guard, "drop_requires", throws)
    left = made(sliced, flags)
    put_back = Path(left.output).read_bytes()
    stock = made(sliced, flags, "--guard=off")
    assert put_back == Path(stock.output).read_bytes() != with_checks
    assert [f.code for f in left.findings] == ["FIS902"] and left.facts["attempts"] == ["direct"]
    assert "put back" in left.findings[0].notes[0] and stock.findings == ()
    assert "storage_checks" not in left.facts


def _offences(tree: ast.Module) -> list[str]:
    """Exceptions that are defined, and fields of another object that are assigned."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(
            "Error" in ast.unparse(b) or "Exception" in ast.unparse(b) for b in node.bases
        ):
            found.append(node.name)
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AugAssign)
            else []
        )
        for target in targets:
            if isinstance(target, ast.Attribute) and not (
                isinstance(target.value, ast.Name) and target.value.id in ("self", "cls")
            ):
                found.append(ast.unparse(target))
    return found


def test_no_exception_steers_and_no_field_is_assigned_from_outside():
    files = [file for room in STEERING for file in sorted((ROOT / "pipelines" / room).glob("*.py"))]
    assert len(files) > 30
    assert {
        str(file.relative_to(ROOT)): found
        for file in files
        if (found := _offences(ast.parse(file.read_text())))
    } == {}
    assert _offences(
        ast.parse("class Again(FissileError): pass\nrun.ask = 1\nself.ask = 2\nmodule.op.x += 1")
    ) == ["Again", "run.ask", "module.op.x"]

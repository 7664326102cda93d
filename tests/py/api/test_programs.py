"""Every kind of program that the Python functions take gives the same module and the same report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fissile
from fissile.api.programs import IN_MEMORY, program_file
from fissile.errors import RunError, UsageError

ADD = """\
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @both(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = arith.mulf %a, %a : tensor<?xf32>
  return %a, %0 : tensor<?xf32>, tensor<?xf32>
}
"""
REFUSED = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "unknown.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
FOUR = np.arange(4, dtype=np.float32)


class Exported:
    """What iree-turbine's `aot.export` returns, as far as it matters: `save_mlir` writes bytecode."""

    def __init__(self, bytecode: bytes) -> None:
        self.bytecode = bytecode

    def save_mlir(self, file_path) -> None:
        Path(file_path).write_bytes(self.bytecode)


@pytest.fixture(scope="module")
def forms(tmp_path_factory) -> dict:
    import io

    from iree.compiler import ir

    file = tmp_path_factory.mktemp("programs") / "add.mlir"
    file.write_text(ADD)
    module = ir.Module.parse(ADD, ir.Context())
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    return {
        "path": file,
        "path as text": str(file),
        "text": ADD,
        "bytes": ADD.encode(),
        "bytecode": bytecode.getvalue(),
        "module": module,
        "operation": module.operation,
        "export": Exported(bytecode.getvalue()),
    }


@pytest.mark.parametrize(
    "form", ["path", "path as text", "text", "bytes", "bytecode", "module", "operation", "export"]
)
def test_every_form_is_written_as_the_same_program(forms, form):
    from iree.compiler import ir

    with program_file(forms[form]) as file:
        assert str(ir.Module.parse(file.path.read_bytes(), ir.Context())) == str(forms["module"])
        in_memory = file.path
        assert file.shown == (str(forms["path"]) if form.startswith("path") else IN_MEMORY)
    assert in_memory.exists() == form.startswith("path")


def test_text_gives_the_bytes_that_compile_str_of_iree_gives(built):
    from iree.compiler import tools

    stock = tools.compile_str(ADD, target_backends=["llvm-cpu"], input_type="auto")
    assert fissile.compile(ADD, target="llvm-cpu").vmfb == built.vmfb
    flags = ["--iree-hal-target-backends=llvm-cpu"]
    assert fissile.compile(ADD, flags=flags).vmfb == stock


@pytest.mark.parametrize("program", [7, None, object(), ["a.mlir"]])
def test_what_is_no_program_is_refused(program):
    with pytest.raises(UsageError, match="is not a program"), program_file(program):
        pass


@pytest.fixture(scope="module")
def built() -> fissile.Result:
    return fissile.compile(ADD, target="llvm-cpu")


def test_a_result_holds_the_module_and_runs_it(built, tmp_path):
    assert built.ok and built.vmfb and built.findings == () and built.output == "<memory>"
    assert built.functions == ("main", "both")
    assert built.run(FOUR, FOUR, function="main").tolist() == [0, 2, 4, 6]
    first, second = built.run(FOUR[:3], function="both")
    assert first.tolist() == [0, 1, 2] and second.tolist() == [0, 1, 4]
    built.save(tmp_path / "add.vmfb")
    assert (tmp_path / "add.vmfb").read_bytes() == built.vmfb
    assert "no findings" in str(built) and "ok" in repr(built)


@pytest.mark.parametrize(
    "arrays, message",
    [
        ((FOUR,), "takes 2 inputs, 1 was given"),
        ((FOUR, FOUR[:2]), "input 1 of @main is 2xfloat32, and tensor<4xf32> is needed"),
        ((FOUR.astype(np.float64), FOUR), "input 0 of @main is 4xfloat64"),
    ],
)
def test_wrong_arguments_are_named(built, arrays, message):
    with pytest.raises(UsageError, match=message):
        built.run(*arrays, function="main")


def test_a_function_must_be_known(built):
    with pytest.raises(UsageError, match="2 public functions"):
        built.run(FOUR, FOUR)
    with pytest.raises(UsageError, match="no public function 'mian'"):
        built.run(FOUR, FOUR, function="mian")


def test_a_run_that_fails_is_an_error_of_its_own():
    broken = fissile.Result(fissile.Report("compile"), b"no module")
    with pytest.raises(UsageError, match="is not an IREE"):
        broken.run(FOUR)
    asserts = fissile.compile(
        """\
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.constant 0 : index
  %n = tensor.dim %a, %0 : tensor<?xf32>
  %c = arith.constant 9 : index
  %more = arith.cmpi ugt, %n, %c : index
  cf.assert %more, "too short"
  return %a : tensor<?xf32>
}
""",
        target="llvm-cpu",
    )
    with pytest.raises(RunError, match="too short"):
        asserts.run(FOUR)


def test_a_refused_program_raises_with_its_report():
    with pytest.raises(fissile.CompileError, match="FIS406") as refused:
        fissile.compile(REFUSED, target="llvm-cpu")
    assert refused.value.report.errors
    result = fissile.compile(REFUSED, target="llvm-cpu", check=False)
    assert not result.ok and not result.vmfb and result.errors == refused.value.report.errors
    assert result.errors[0].places[0].file == IN_MEMORY
    assert '%0 = "unknown.op"(%a)' in str(result)  # the line of a program that no file holds
    with pytest.raises(UsageError, match="there is no module: the program is refused"):
        result.run(FOUR)


def test_a_named_output_is_written(tmp_path, forms):
    output = tmp_path / "add.vmfb"
    built = fissile.compile(forms["path"], output, target="llvm-cpu")
    assert built.output == str(output) and output.read_bytes() == built.vmfb


def test_check_takes_one_target_or_many():
    one = fissile.check(ADD, "gfx942")
    many = fissile.check(ADD, ["gfx942", fissile.Target.__module__ and "vulkan"], probe="never")
    assert [t["name"] for t in one.facts["targets"]] == ["gfx942"]
    assert [t["name"] for t in many.facts["targets"]] == ["gfx942", "vulkan"]
    assert one.ok and "2 of 2 dispatches fit" in str(one)
    with pytest.raises(UsageError, match="no module: check compiles none"):
        one.run(FOUR)


def test_a_target_with_a_budget_is_checked_against_it():
    from fissile.target import find_target

    result = fissile.check(ADD, find_target("gfx942").with_budget(1234))
    assert result.facts["targets"][0]["limit"] == 1234


def test_verify_compares_with_arrays_and_functions(built):
    right = fissile.verify(built, inputs=[FOUR, FOUR], expected=[FOUR * 2], function="main")
    assert right.ok and right.agrees and right.bit_identical and right.checks
    wrong = fissile.verify(built, inputs=[FOUR, FOUR], expected=[FOUR * 3], function="main")
    assert not wrong.ok and [f.code for f in wrong.findings] == ["FIS130"]
    called = []

    def reference(a, b):
        called.append((a, b))
        return a + b

    how = {"function": "main", "seeds": (0, 1), "on": "local-task"}
    assert fissile.verify(built, reference=reference, **how).ok and len(called) == 2
    with pytest.raises(UsageError, match="the reference function failed: ZeroDivisionError"):
        fissile.verify(built, reference=lambda a, b: 1 // 0, **how)
    with pytest.raises(UsageError, match="no public function"):
        fissile.verify(built, function="none")

"""Verification end to end: agreement is found, and so is a wrong number, a crash, a hang and a missing runtime."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from fissile.cli.commands import verify as command
from fissile.errors import UsageError
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.certificate import Certificate, Check
from fissile.pipelines.numerics.compare import EXACT, compare
from fissile.pipelines.numerics.inputs import Sizes, draw
from fissile.pipelines.numerics.reference import build_for
from fissile.pipelines.numerics.retarget import device_attribute, retarget
from fissile.pipelines.numerics.signature import signatures_of_source, signatures_of_vmfb
from fissile.pipelines.numerics.verify import Options, certify_transform, verify
from fissile.pipelines.process.child import run_child

LOCAL = Options(on=("local-task",))

TYPES = """
func.func @types(%a: tensor<?x4xi8>, %b: tensor<5xf16>, %c: tensor<5xbf16>, %d: tensor<5xi1>, %e: i32, %f: f32, %g: i1)
    -> (tensor<?x4xi8>, tensor<5xf16>, tensor<5xbf16>, tensor<5xi1>, i32, f32, i1) {
  %a1 = arith.addi %a, %a : tensor<?x4xi8>
  %b1 = arith.addf %b, %b : tensor<5xf16>
  %c1 = arith.addf %c, %c : tensor<5xbf16>
  %t = arith.constant dense<true> : tensor<5xi1>
  %d1 = arith.xori %d, %t : tensor<5xi1>
  %e1 = arith.addi %e, %e : i32
  %f1 = arith.addf %f, %f : f32
  %u = arith.constant true
  %g1 = arith.xori %g, %u : i1
  return %a1, %b1, %c1, %d1, %e1, %f1, %g1
    : tensor<?x4xi8>, tensor<5xf16>, tensor<5xbf16>, tensor<5xi1>, i32, f32, i1
}
"""
DOUBLE = (
    "func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {{\n  %r = arith.{op}f %x, %x : tensor<?x3xf32>\n"
    "  return %r : tensor<?x3xf32>\n}}\n"
)
ASSERTS = """
func.func @main(%n: index) -> index {
  %c = arith.constant 3 : index
  %ok = arith.cmpi eq, %n, %c : index
  cf.assert %ok, "n must be three"
  return %n : index
}
"""


def types_in_numpy(a, b, c, d, e, f, g):
    return a + a, b + b, c + c, ~d, e + e, f + f, ~g


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numerics")
    texts = {
        "types": TYPES,
        "add": DOUBLE.format(op="add"),
        "mul": DOUBLE.format(op="mul"),
        "asserts": ASSERTS,
    }
    for name, text in texts.items():
        (folder / f"{name}.mlir").write_text(text)
    return folder


def test_every_type_makes_the_round_trip(folder):
    certificate = verify(
        folder / "types.mlir", reference=types_in_numpy, options=Options(on=("local-task",), seeds=(0, 1))
    )
    assert certificate.agrees and certificate.bit_identical, certificate.findings
    assert len(certificate.checks) == 2 and len(certificate.checks[0].comparisons) == 7
    json.dumps(certificate.to_json(), allow_nan=False)


def test_a_vmfb_tells_the_same_signature_as_its_source(folder):
    vmfb = folder / "types.vmfb"
    (local,) = runtimes.named(["local-task"])
    assert build_for(folder / "types.mlir", local, vmfb) is None
    source, compiled = signatures_of_source(folder / "types.mlir"), signatures_of_vmfb(vmfb)
    assert [(a.element, a.shape) for a in source["types"].arguments] == [
        (a.element, a.shape) for a in compiled["types"].arguments
    ]
    assert verify(vmfb, reference=types_in_numpy, options=LOCAL).agrees


def test_two_programs(folder):
    same = verify(folder / "add.mlir", folder / "add.mlir", options=LOCAL)
    assert same.bit_identical and same.findings == ()
    other = verify(folder / "add.mlir", folder / "mul.mlir", options=LOCAL)
    assert not other.agrees
    (finding,) = other.findings
    assert finding.code == "FIS130" and finding.target.startswith("local-task")
    assert "differs from add.mlir on local-task" in finding.message


def test_expected_arrays(folder):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert verify(folder / "add.mlir", inputs=[x], expected=[x + x], options=LOCAL).agrees
    assert not verify(folder / "add.mlir", inputs=[x], expected=[x], options=LOCAL).agrees
    short = verify(folder / "add.mlir", inputs=[x], expected=[x, x], options=LOCAL)
    assert [f.code for f in short.findings] == ["FIS131"]
    with pytest.raises(UsageError, match=r"input 0 of @main is 2x4xfloat32, and tensor<\?x3xf32> is needed"):
        verify(folder / "add.mlir", inputs=[np.zeros((2, 4), np.float32)], options=LOCAL)
    with pytest.raises(UsageError, match="takes 1 input, 2 were given"):
        verify(folder / "add.mlir", inputs=[x, x], options=LOCAL)


def test_an_error_of_the_program_is_a_finding(folder):
    certificate = verify(
        folder / "asserts.mlir",
        reference=lambda n: n,
        options=Options(on=("local-task",), ranges={0: (4, 4)}),
    )
    (finding,) = certificate.findings
    assert finding.code == "FIS131" and "n must be three" in finding.message
    assert verify(
        folder / "asserts.mlir",
        reference=lambda n: n,
        options=Options(on=("local-task",), ranges={0: (3, 3)}),
    ).agrees


def test_a_hang_and_a_crash_are_findings(folder, monkeypatch):
    (local,) = runtimes.named(["local-task"])
    signature = signatures_of_source(folder / "add.mlir")["main"]
    arrays = draw(signature, 0, Sizes(2))
    for script, printed in (
        ("exec sleep 1000", "did not end within 0.2 s"),
        ("kill -SEGV $$", "was ended by SIGSEGV"),
    ):
        program = folder / "program"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setattr(runtimes, "run_module_program", lambda program=program: str(program))
        finding = runtimes.run(
            folder / "add.vmfb", signature, arrays, local, timeout=0.2 if "sleep" in script else 300
        )
        assert finding.code == "FIS131" and printed in finding.message


def test_a_child_is_ended_with_its_children(tmp_path):
    """The grandchild would hold the pipe open, and communicate() would wait for it, if it survived."""
    ended = run_child(["sh", "-c", "sleep 1000 & sleep 1000"], timeout=0.1)  # a deadline under test
    assert ended.status is None and "did not end" in ended.reason


def test_what_is_not_here_is_refused_with_what_is():
    with pytest.raises(UsageError, match="'nowhere' is not a runtime") as error:
        runtimes.named(["nowhere"])
    assert "local-task" in error.value.hint


def test_a_source_that_iree_refuses(folder):
    bad = folder / "bad.mlir"
    bad.write_text("func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> { return %x : tensor<4xf32> }")
    with pytest.raises(UsageError, match="bad.mlir is not MLIR that IREE parses"):
        verify(bad)
    assert compile_stock(bad, folder / "bad.vmfb", []).code == "FIS131"


def test_nothing_compared_is_no_agreement(folder, monkeypatch):
    local = runtimes.named(["local-task"])
    monkeypatch.setattr(runtimes, "present", lambda: local)
    monkeypatch.setattr("fissile.pipelines.numerics.cases.comparing.named", lambda names: local)
    monkeypatch.setattr("fissile.pipelines.numerics.cases.comparing.present", lambda: local)
    vmfb = folder / "alone.vmfb"
    assert build_for(folder / "add.mlir", local[0], vmfb) is None
    certificate = verify(vmfb)
    (finding,) = certificate.findings
    assert not certificate.agrees and finding.code == "FIS131"
    assert "no witness: a compiled module has no source" in finding.message
    certificate = verify(folder / "add.mlir")  # its source has another reference
    assert certificate.agrees and certificate.checks[0].against == "NumPy's evaluation"


def test_certificate_sentences():
    good = compare(np.float32([1]), np.float32([1]), EXACT)
    bad = compare(np.float32([2]), np.float32([1]), EXACT)
    both = Certificate("a", (Check("a", "local-task (x)", 0, "b", (good, bad)),))
    assert not both.agrees and "output 1" in both.sentence and "output 0" not in both.sentence
    fine = Certificate(
        "a", (Check("a", "local-task (x)", 0, "b", (good,)), Check("a", "vulkan (y)", 0, "b", (good,)))
    )
    assert fine.sentence == "bit-identical on local-task, vulkan" and fine.findings == ()
    assert not Certificate("a", (Check("a", "local-task", 0, "b"),)).agrees  # a function with no results


# --- a transform for a GPU that is not here, proved on llvm-cpu

QUANTISED = """
func.func @main(%x: tensor<12x16xi8>, %w: tensor<16x20xi8>) -> tensor<12x20xf32> {
  %s = arith.constant 0.0078125 : f32
  %z = arith.constant 0.0 : f32
  %xe = tensor.empty() : tensor<12x16xf32>
  %xd = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<12x16xi8>) outs(%xe : tensor<12x16xf32>) {
    ^bb0(%i: i8, %o: f32):
      %f = arith.sitofp %i : i8 to f32
      %r = arith.mulf %f, %s : f32
      linalg.yield %r : f32 } -> tensor<12x16xf32>
  %we = tensor.empty() : tensor<16x20xf32>
  %wd = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%w : tensor<16x20xi8>) outs(%we : tensor<16x20xf32>) {
    ^bb0(%i: i8, %o: f32):
      %f = arith.sitofp %i : i8 to f32
      %r = arith.mulf %f, %s : f32
      linalg.yield %r : f32 } -> tensor<16x20xf32>
  %ae = tensor.empty() : tensor<12x20xf32>
  %a = linalg.fill ins(%z : f32) outs(%ae : tensor<12x20xf32>) -> tensor<12x20xf32>
  %y = linalg.matmul ins(%xd, %wd : tensor<12x16xf32>, tensor<16x20xf32>) outs(%a : tensor<12x20xf32>) -> tensor<12x20xf32>
  return %y : tensor<12x20xf32>
}
"""


@pytest.fixture(scope="module")
def optimised(folder) -> str:
    source, output = folder / "quantised.mlir", folder / "optimised.mlir"
    source.write_text(QUANTISED)
    flags = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942", "--compile-to=global-optimization"]
    assert compile_stock(source, output, flags) is None
    return output.read_text()


def with_boundary(text: str) -> str:
    """The first dequantised tensor behind a compute barrier, as the boundary pass leaves it."""
    start = text.index("linalg.generic")
    name = text[:start].rsplit("%", 1)[1].split(" ")[0]
    end = text.index("} -> tensor<12x16xf32>", start) + len("} -> tensor<12x16xf32>")
    head, body, rest = text[:start], text[start:end], text[end:]
    barrier = (
        f"\n    %cut = iree_tensor_ext.compute_barrier.start %{name} : tensor<12x16xf32> -> tensor<12x16xf32>"
    )
    return head + body + barrier + rest.replace(f"%{name},", "%cut,")


def test_retargeting_leaves_no_gpu(optimised):
    text = retarget(optimised)
    assert "gfx942" not in text and "rocm" not in text
    assert device_attribute("llvm-cpu") in text
    assert retarget(text) == text
    with pytest.raises(UsageError, match="names no device"):
        retarget("module {}")


def test_a_boundary_is_proved_and_a_changed_number_is_not(optimised):
    cut = with_boundary(optimised)
    assert "compute_barrier" in cut
    good = certify_transform(optimised, cut)
    assert good.bit_identical, good.findings
    assert "7.812500e-03" in cut
    wrong = certify_transform(optimised, cut.replace("7.812500e-03", "7.812600e-03"))
    assert [f.code for f in wrong.findings] == ["FIS130"]


def test_a_transform_that_cannot_be_run_is_reported(optimised):
    certificate = certify_transform(optimised, optimised.replace("linalg.matmul", "linalg.matmull", 1))
    assert [f.code for f in certificate.findings] == ["FIS131"] and len(certificate.skipped) == 2


def test_where_llvm_cpu_refuses_the_interpreter_runs_and_it_is_reported(optimised, monkeypatch):
    from fissile.pipelines.numerics import verify as module

    real = module.compile_stock

    def refusing(source, output, flags, timeout):
        if "llvm-cpu" in source.read_text():
            return real(source, output, [*flags, "--iree-llvmcpu-stack-allocation-limit=x"], timeout)
        return real(source, output, flags, timeout)

    monkeypatch.setattr(module, "compile_stock", refusing)
    certificate = certify_transform(optimised, with_boundary(optimised))
    assert certificate.agrees and "vmvx" in certificate.checks[0].runtime
    assert len(certificate.skipped) == 1 and certificate.skipped[0].startswith(
        "llvm-cpu: original.mlir was not compiled"
    )


def test_a_function_of_opaque_values_is_told_and_left_out(optimised):
    opaque = optimised.rstrip()[:-1] + (
        "  util.func public @other(%arg0: !hal.buffer_view) -> !hal.buffer_view {\n"
        "    util.return %arg0 : !hal.buffer_view\n  }\n}\n"
    )
    certificate = certify_transform(opaque, opaque)
    assert certificate.bit_identical and any("@other" in skipped for skipped in certificate.skipped)


# --- the command


def reported(capsys, *words) -> tuple[int, str]:
    status = command.run([str(w) for w in words])
    return status, capsys.readouterr().out


def test_the_command_says_what_was_compared(folder, capsys):
    status, out = reported(
        capsys, folder / "add.mlir", folder / "add.mlir", "--on", "local-task", "--iree-opt-level=O1"
    )
    assert status == 0 and "add.mlir against add.mlir: bit-identical on local-task" in out
    status, out = reported(
        capsys, folder / "add.mlir", folder / "mul.mlir", "--on=local-task", "--format=json"
    )
    assert status == 1 and json.loads(out)["exit_code"] == 1


def test_the_command_takes_files(folder, tmp_path, capsys):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x + x)
    (tmp_path / "golden.py").write_text(
        "def double(x):\n    return x + x\ndef fails(x):\n    raise KeyError('k')\n"
    )
    files = [f"--input={tmp_path / 'x.npy'}", "--on=local-task", folder / "add.mlir"]
    assert reported(capsys, *files, f"--expected={tmp_path / 'y.npy'}")[0] == 0
    assert reported(capsys, *files, f"--expected={tmp_path / 'x.npy'}")[0] == 1
    assert reported(capsys, *files, f"--reference={tmp_path / 'golden.py'}:double")[0] == 0
    with pytest.raises(UsageError, match="the reference function .*golden.py:fails failed: KeyError"):
        reported(capsys, *files, f"--reference={tmp_path / 'golden.py'}:fails")
    with pytest.raises(UsageError, match="no function 'doubel'"):
        reported(capsys, *files, f"--reference={tmp_path / 'golden.py'}:doubel")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope.mlir"], "no such file: nope.mlir"),
        ([__file__], "is not MLIR that IREE parses"),
        (["bytes.mlir"], "quotes bytes that are no text"),
        ([], "required: FIRST"),
        (["a.mlir", "--onn=vulkan"], "unknown argument"),
        (["a.mlir", "--tolerance=x"], "'x' is not a tolerance"),
        (["a.mlir", "--tolerance=nan"], "'nan' is not a tolerance"),
        (["a.mlir", "--tolerance=1steps,inf"], "'1steps,inf' is not a tolerance"),
        (["a.mlir", "--range=0=nan:1"], "is not a range"),
        (["a.mlir", "--range=0=5"], "is not a range"),
        (["a.mlir", "--sizes=-3"], "gives no sizes"),
        (["a.mlir", "--seeds=0"], "a whole number above 0"),
        (["a.mlir", "--expected=y.npy"], "needs the inputs"),
        (["a.mlir", "--input=nope.npy"], "cannot read nope.npy"),
        (["a.mlir", f"--input={__file__}"], "not a .npy file"),
        (["a.mlir", "--reference=golden"], "names no function"),
    ],
)
def test_the_command_refuses_in_one_line(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.mlir").write_text(DOUBLE.format(op="add"))
    Path("bytes.mlir").write_bytes(b'func.func @f(%a: !x<"\xff\xfe">) { return }')
    with pytest.raises(UsageError, match=message) as error:
        command.run(words)
    assert "\n" not in error.value.message and error.value.hint


def test_bfloat16_results_of_two_dynamic_dimensions_have_their_shape(folder):
    source, vmfb = folder / "bf16.mlir", folder / "bf16.vmfb"
    source.write_text(
        "func.func @main(%x: tensor<?x?xbf16>) -> tensor<?x?xbf16> {\n"
        "  %r = arith.addf %x, %x : tensor<?x?xbf16>\n  return %r : tensor<?x?xbf16>\n}\n"
    )
    (local,) = runtimes.named(["local-task"])
    assert build_for(source, local, vmfb) is None
    signature = signatures_of_source(source)["main"]
    arrays = draw(signature, 0, Sizes(2, {(0, 1): 5}))
    (result,) = runtimes.run(vmfb, signature, arrays, local)
    assert result.shape == (2, 5) and result.dtype == ml_dtypes.bfloat16
    assert compare(result, arrays[0] + arrays[0], EXACT).agrees

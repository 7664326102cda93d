"""FIS415: constants whose elements the module does not have."""

from __future__ import annotations

import pytest
from built import CPU
from compile_commands import fissile
from planted_faults import compile_here

from fissile.effect import Effect
from fissile.passes.analysis.legality.constant_data import lacking_data
from fissile.pipelines.check.entry import check
from fissile.pipelines.session import Session

EIGHT_BYTES = "0x040000000000803F00000040"
FORMS = {
    "linalg": "  %0 = arith.constant dense_resource<w> : tensor<4xf32>\n  return %0 : tensor<4xf32>",
    "stablehlo": "  %0 = stablehlo.constant dense_resource<w> : tensor<4xf32>\n  return %0 : tensor<4xf32>",
    "tosa": '  %0 = "tosa.const"() {values = dense_resource<w> : tensor<4xf32>} : () -> tensor<4xf32>\n  return %0 : tensor<4xf32>',
    "torch": "  %0 = torch.vtensor.literal(dense_resource<w> : tensor<4xf32>) : !torch.vtensor<[4],f32>\n  return %0 : !torch.vtensor<[4],f32>",
    "onnx": '  %0 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<w> : tensor<4xf32>} : () -> !torch.vtensor<[4],f32>\n'
    "  return %0 : !torch.vtensor<[4],f32>",
}


def _program(body: str, data: str = EIGHT_BYTES) -> str:
    resources = f'{{-#\n  dialect_resources: {{ builtin: {{ w: "{data}" }} }}\n#-}}\n' if data else ""
    result = body.rpartition(": ")[2]
    model = " attributes {torch.onnx_meta.opset_version = 21 : si64}" if "onnx" in body else ""
    return f"func.func @main() -> {result}{model} {{\n{body}\n}}\n{resources}"


def _compiled(monkeypatch, tmp_path, program: str, *flags: str):
    (tmp_path / "in.mlir").write_text(program)
    return compile_here(
        monkeypatch, [*CPU, *flags, str(tmp_path / "in.mlir"), "-o", str(tmp_path / "out.vmfb")]
    )


@pytest.mark.parametrize("form", FORMS)
def test_too_few_bytes_are_an_error_where_the_constant_stands(monkeypatch, tmp_path, form):
    """Of stock's module, the other elements are what lies behind the eight bytes."""
    report = _compiled(monkeypatch, tmp_path, _program(FORMS[form]))
    [found] = report.findings
    assert found.code == "FIS415" and report.exit_code == 1 and not (tmp_path / "out.vmfb").exists()
    assert found.message == "resource 'w' has 8 bytes, and the constant needs 16"
    assert found.places[0].line == 2 and found.effect is Effect.OVERRUN


@pytest.mark.parametrize("form", FORMS)
def test_the_same_with_all_bytes_is_silent(monkeypatch, tmp_path, form):
    report = _compiled(
        monkeypatch, tmp_path, _program(FORMS[form], "0x040000000000803F000000400000404000008040")
    )
    assert report.findings == () and report.exit_code == 0


@pytest.mark.parametrize("name", ["w", "__elided__"])
def test_no_data_is_an_error_before_code_is_generated(monkeypatch, tmp_path, name):
    """Stock says so at the end, and names no place."""
    body = FORMS["linalg"].replace("<w>", f"<{name}>")
    report = _compiled(monkeypatch, tmp_path, _program(body, ""))
    [found] = report.findings
    assert found.code == "FIS415" and found.places[0].line == 2


def test_elided_constants_may_be_zeros(tmp_path):
    (tmp_path / "in.mlir").write_text(_program(FORMS["linalg"].replace("<w>", "<__elided__>"), ""))
    done = fissile(
        "compile", *CPU, "in.mlir", "-o", "out.vmfb", "--iree-util-zero-fill-elided-attrs", cwd=tmp_path
    )
    assert done.returncode == 0 and (tmp_path / "out.vmfb").exists(), done.stderr


def test_all_elided_constants_are_one_finding(monkeypatch, tmp_path):
    body = "".join(
        f"  %{n} = arith.constant dense_resource<__elided__> : tensor<{n + 2}xf32>\n" for n in range(9)
    )
    uses = "".join(f"  util.optimization_barrier %{n} : tensor<{n + 2}xf32>\n" for n in range(9))
    report = _compiled(monkeypatch, tmp_path, f"func.func @main() {{\n{body}{uses}  return\n}}\n")
    [found] = report.findings
    assert "of 9 constants" in found.message and len(found.places) == 4


def test_what_nobody_reads_and_a_compile_to_an_earlier_phase_are_stocks(monkeypatch, tmp_path):
    unread = "  %1 = arith.constant dense_resource<w> : tensor<4xf32>\n  %0 = arith.constant dense<0.0> : tensor<4xf32>\n  return %0 : tensor<4xf32>"
    assert _compiled(monkeypatch, tmp_path, _program(unread)).exit_code == 0
    early = _compiled(monkeypatch, tmp_path, _program(FORMS["linalg"]), "--compile-to=flow")
    assert early.findings == () and early.exit_code == 0


def test_check_says_the_same(tmp_path):
    (tmp_path / "in.mlir").write_text(_program(FORMS["linalg"]))
    assert [one.code for one in check(tmp_path / "in.mlir", ["llvm-cpu"], probe="never").findings] == [
        "FIS415"
    ]


def test_the_audit_says_the_same_and_goes_on(tmp_path):
    from fissile.pipelines.audit.entry import AuditJob, run_audit_here

    body = FORMS["linalg"].replace(
        "  return", '  %1 = "mine.op"(%0) : (tensor<4xf32>) -> tensor<4xf32>\n  return'
    )
    (tmp_path / "in.mlir").write_text(_program(body))
    job = AuditJob(str(tmp_path / "in.mlir"), (("llvm-cpu", tuple(CPU)),))
    assert {"FIS415", "FIS406"} <= {one.code for one in run_audit_here(job).findings}


@pytest.mark.parametrize(
    ("element", "bits"),
    [("i1", 8), ("i8", 8), ("f16", 16), ("i64", 64), ("index", 64), ("complex<f32>", 64), ("f8E4M3FN", 8)],
)
@pytest.mark.parametrize("count", [1, 4, 511, 4096, 4097, 9000])
def test_one_byte_less_is_found_at_each_size(element, bits, count):
    """The printer's limit, by which a short resource is recognised, is exact."""
    needed = count * bits // 8
    for held in (needed, needed - 1):
        data = "0x04000000" + "01" * held
        text = _program(f"  %0 = arith.constant dense_resource<w> : tensor<{count}x{element}>\n  return %0 : tensor<{count}x{element}>", data)  # fmt: skip
        found = lacking_data(Session().parse_text(text).op)
        assert [(one.needed, one.held) for one in found] == ([] if held == needed else [(needed, held)])


def test_a_large_constant_without_data_is_found_among_others():
    text = """
util.global private @there = dense_resource<there> : tensor<2048xf32>
util.global private @gone = dense_resource<gone> : tensor<2048xf32>
util.global private @small_type_of_it = dense_resource<there> : tensor<2xf32>
util.global private @"odd name" = dense_resource<"odd name"> : tensor<2xf32>
{-# dialect_resources: { builtin: { there: "0x04000000%s", "odd name": "0x0400000000" } } #-}
""" % ("00" * 8192)  # fmt: skip
    found = lacking_data(Session().parse_text(text).op)
    assert [(one.name, one.held) for one in found] == [("gone", None), ('"odd name"', 1)]


def test_other_constants_are_not_looked_at():
    text = "func.func @f() -> tensor<2xi32> {\n  %0 = arith.constant dense<[1, 2]> : tensor<2xi32>\n  return %0 : tensor<2xi32>\n}"
    assert lacking_data(Session().parse_text(text).op) == []

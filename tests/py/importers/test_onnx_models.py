"""Models in other formats as input: recognised, imported, compiled, and findings that name their nodes."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import built
import numpy as np
import pytest
from iree_versions import since

from fissile.cli.main import main
from fissile.errors import UsageError
from fissile.pipelines.check.check_worker import run_check
from fissile.pipelines.importers import imported
from fissile.pipelines.importers.recognise import EXPORTED, ONNX, recognised

onnx = pytest.importorskip("onnx", reason="the onnx extra is not installed")
from onnx import TensorProto, helper  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def saved(path, nodes, inputs, outputs, opset=23, **more):
    """A model of ``nodes``; ``inputs`` and ``outputs`` are (name, element type, shape)."""
    graph = helper.make_graph(
        nodes,
        "main",
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(*one) for one in outputs],
        **more,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.save(model, path)
    return model


def attention(path):
    """An activation, then an op that IREE does not lower and that the standard defines by others."""
    shape = (1, 2, 4, 8)
    return saved(
        path,
        [
            helper.make_node("Relu", ["q"], ["p"], name="act"),
            helper.make_node("Attention", ["p", "k", "v"], ["y"], name="layer/attention"),
        ],
        [(name, FLOAT, shape) for name in "qkv"],
        [("y", FLOAT, shape)],
    )


def to_float8(path):
    return saved(
        path,
        [
            helper.make_node("Neg", ["x"], ["n"]),
            helper.make_node("Cast", ["n"], ["c"], name="narrow", to=TensorProto.FLOAT8E5M2, saturate=0),
            helper.make_node("Cast", ["c"], ["y"], to=FLOAT),
        ],
        [("x", FLOAT, (4,))],
        [("y", FLOAT, (4,))],
    )


def command(tmp_path, *words):
    """The exit status and the report of `fissile WORDS`."""
    report = tmp_path / "report.json"
    status = main([*map(str, words), "--format=json", f"--report-file={report}"])
    return status, json.loads(report.read_text())


def compiled(tmp_path, model, *words):
    return command(tmp_path, "compile", model, *built.CPU, "-o", tmp_path / "out.vmfb", *words)


def ran(tmp_path, *inputs):
    """What out.vmfb's only function computes."""
    from fissile.pipelines.numerics import runtimes
    from fissile.pipelines.numerics.signature import Signature, signatures_of_source

    [runtime] = runtimes.named(["local-task"])
    signature = next(iter(signatures_of_source(tmp_path / "program" / "model.onnx").values()))
    assert isinstance(signature, Signature)
    answer = runtimes.run(tmp_path / "out.vmfb", signature, list(inputs), runtime)
    assert isinstance(answer, list), answer
    return answer


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("model.onnx", b"\x08\x0a\x12\x04test", ONNX),
        ("model.bin", b"\x08\x07\x3a\x10graph", ONNX),
        ("model.onnx", b"module {\n}\n", ""),
        ("model.mlir", b"module {\n}\n", ""),
        ("model.mlirbc", b"ML\xefR\x0dMLIR24", ""),
        ("model.onnx", b"ML\xefR\x0dMLIR24", ""),
        ("none.mlir", b"", ""),
    ],
)
def test_a_model_is_recognised_by_its_content(tmp_path, name, content, what):
    (tmp_path / name).write_bytes(content)
    assert recognised(tmp_path / name) == what


@pytest.mark.parametrize(
    ("name", "entry", "what"),
    [
        ("model.pt2", "data.bin", EXPORTED),
        ("model.zip", "model/models/model.json", EXPORTED),
        ("model.zip", "serialized_exported_program.json", EXPORTED),
        ("module.vmfb", "module.fb", ""),
    ],
)
def test_an_exported_program_is_an_archive_with_a_certain_entry(tmp_path, name, entry, what):
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr(entry, "{}")
    assert recognised(tmp_path / name) == what


@pytest.mark.parametrize(
    "name", ["model.pt", "model.tflite", "weights.safetensors", "weights.gguf", "model.pt2"]
)
def test_a_format_without_importer_is_one_line_with_the_way_out(tmp_path, capsys, name):
    (tmp_path / name).write_bytes(b"\x80\x02\x00\x01")
    assert main(["compile", str(tmp_path / name), *built.CPU, "-o", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr().err
    assert name in printed and ("torch.export.save" in printed or "tf2onnx" in printed)
    assert "Traceback" not in printed


def test_a_missing_importer_is_named_with_what_installs_it(tmp_path, capsys, monkeypatch):
    attention(tmp_path / "model.onnx")
    monkeypatch.setattr(imported, "find_spec", lambda name: None)
    assert main(["compile", str(tmp_path / "model.onnx"), *built.CPU, "-o", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr().err
    assert "pip install 'iree-base-compiler[onnx]'" in printed and "onnx" in printed
    with zipfile.ZipFile(tmp_path / "model.pt2", "w") as archive:
        archive.writestr("model/models/model.json", "{}")
    with pytest.raises(UsageError) as refused:
        imported.importable(tmp_path / "model.pt2", tmp_path)
    assert "iree-turbine" in refused.value.hint


def test_a_model_compiles_to_what_the_stock_importer_and_compiler_make(tmp_path):
    model = tmp_path / "model.onnx"
    saved(
        model,
        [helper.make_node("Mul", ["x", "x"], ["s"]), helper.make_node("ReduceSum", ["s"], ["y"], keepdims=0)],
        [("x", FLOAT, (3, 5))],
        [("y", FLOAT, ())],
    )
    ends = ("--compile-to=stream", "-o")
    words = ["compile", model, *built.CPU, *ends, tmp_path / "out.mlir"]
    status, report = command(tmp_path, *words)
    assert status == 0 and report["findings"] == [] and report["facts"]["imported"] == ONNX
    tools = Path(sys.executable).parent
    subprocess.run([tools / "iree-import-onnx", model, "-o", tmp_path / "stock.mlir"], check=True)
    stock = [tools / "iree-compile", tmp_path / "stock.mlir", *built.CPU, *ends, tmp_path / "stock.hal"]
    subprocess.run(stock, check=True)
    assert (tmp_path / "out.mlir").read_text() == (tmp_path / "stock.hal").read_text()


def test_an_op_with_a_definition_is_replaced_by_it_and_reported(tmp_path):
    from onnx.reference import ReferenceEvaluator

    model = attention(tmp_path / "model.onnx")
    status, report = compiled(tmp_path, tmp_path / "model.onnx")
    [finding] = report["findings"]
    assert status == 0 and (finding["code"], finding["severity"]) == ("FIS421", "repaired")
    assert finding["subject"] == "Attention" and "torch.operator" in finding["stock"]
    assert [(p["line"], p["label"]) for p in finding["places"]] == [
        (2, "node 2 'layer/attention': Attention(p, k, v) -> y")
    ]
    assert finding["places"][0]["file"] == str(tmp_path / "model.onnx")
    (tmp_path / "program").mkdir()
    made = imported.importable(tmp_path / "model.onnx", tmp_path / "program")
    made.rename(tmp_path / "program" / "model.onnx")
    inputs = [np.random.default_rng(n).standard_normal((1, 2, 4, 8)).astype(np.float32) for n in range(3)]
    [expected] = ReferenceEvaluator(model).run(None, dict(zip("qkv", inputs, strict=True)))
    [got] = ran(tmp_path, *inputs)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def expanded(tmp_path, name, kinds):
    """The main graph's op types after the import of ``name`` with ``kinds`` expanded."""
    from fissile.pipelines.importers import onnx_child

    return [n.op_type for n in onnx_child._expanded(onnx.load(tmp_path / name), kinds)[0].graph.node]


def normalisation(path):
    return saved(
        path,
        [helper.make_node("RMSNormalization", ["x", "w"], ["y"], axis=0)],
        [("x", FLOAT, (3, 4)), ("w", FLOAT, (3, 4))],
        [("y", FLOAT, (3, 4))],
    )


def test_sizes_that_a_definition_computes_are_constants(tmp_path):
    """The axes of its ReduceMean are a Range over a Shape: IREE takes only constants there."""
    from onnx.reference import ReferenceEvaluator

    model = normalisation(tmp_path / "model.onnx")
    left = expanded(tmp_path, "model.onnx", ["RMSNormalization"])
    assert "ReduceMean" in left and not {"Range", "Shape", "Size"} & set(left)
    status, report = compiled(tmp_path, tmp_path / "model.onnx")
    assert status == 0 and [f["severity"] for f in report["findings"]] == ["repaired"]
    (tmp_path / "program").mkdir()
    made = imported.importable(tmp_path / "model.onnx", tmp_path / "program")
    made.rename(tmp_path / "program" / "model.onnx")
    x, w = (np.random.default_rng(n).standard_normal((3, 4)).astype(np.float32) for n in range(2))
    [expected] = ReferenceEvaluator(model).run(None, {"x": x, "w": w})
    np.testing.assert_allclose(ran(tmp_path, x, w)[0], expected, rtol=1e-5, atol=1e-6)


def test_a_definition_in_a_definition_is_expanded_too(tmp_path):
    """SwiGLU is written with Swish, which IREE does not lower either."""
    saved(
        tmp_path / "model.onnx",
        [helper.make_node("SwiGLU", ["a", "b"], ["y"], alpha=0.5)],
        [("a", FLOAT, (2, 4)), ("b", FLOAT, (2, 4))],
        [("y", FLOAT, (2, 4))],
        opset=onnx.defs.onnx_opset_version(),
    )
    if not onnx.defs.has("SwiGLU"):
        pytest.skip("this version of ONNX has no SwiGLU")
    status, report = compiled(tmp_path, tmp_path / "model.onnx")
    assert status == 0, report["findings"]
    assert {f["subject"] for f in report["findings"]} == {"SwiGLU", "Swish"}


@pytest.mark.parametrize("words", [("--repair=off",), ("--repair=suggest",)])
def test_nothing_is_replaced_where_repairs_are_not_wanted(tmp_path, words):
    attention(tmp_path / "model.onnx")
    status, report = compiled(tmp_path, tmp_path / "model.onnx", *words)
    assert status == 1 and not (tmp_path / "out.vmfb").exists()
    assert [(f["code"], f["severity"]) for f in report["findings"]] == [("FIS421", "error")]


def test_check_reports_the_node_and_what_compile_would_do(tmp_path):
    attention(tmp_path / "model.onnx")
    status, report = command(tmp_path, "check", tmp_path / "model.onnx", "--target=llvm-cpu", "--probe=never")
    [finding] = report["findings"]
    assert status == 1 and (finding["code"], finding["severity"]) == ("FIS421", "error")
    assert finding["places"][0]["name"] == "layer/attention"
    assert "layer/attention" in finding["places"][0]["label"] and not finding["helps"][0]["applied"]
    assert report["facts"]["targets"][0]["dispatches"], "the program was not looked at with the definition"


def test_an_op_that_cannot_enter_is_named_with_its_node(tmp_path):
    to_float8(tmp_path / "model.onnx")
    status, report = compiled(tmp_path, tmp_path / "model.onnx")
    [finding] = report["findings"]
    assert status == 1 and (finding["code"], finding["subject"]) == ("FIS421", "onnx.Cast")
    assert finding["places"][0]["label"] == "node 2 'narrow': Cast(n) -> c"
    assert finding["places"][0]["name"] == "narrow"
    assert any("way out" in note for note in finding["notes"])


def test_a_model_that_the_importer_refuses_is_a_finding_with_its_node(tmp_path):
    saved(
        tmp_path / "model.onnx",
        [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E8M0)],
        [("x", FLOAT, (4,))],
        [("y", TensorProto.FLOAT8E8M0, (4,))],
        opset=24,
    )
    status, report = compiled(tmp_path, tmp_path / "model.onnx")
    [finding] = report["findings"]
    assert status == 1 and finding["code"] == "FIS420" and "element type" in finding["message"]
    assert str(tmp_path / "model.onnx") == finding["places"][0]["file"]


def test_a_damaged_model_is_a_finding(tmp_path, capsys):
    (tmp_path / "model.onnx").write_bytes(b"\x08\x0a\x12\xff\xff\xff")
    status, report = compiled(tmp_path, tmp_path / "model.onnx")
    assert status == 1 and [f["code"] for f in report["findings"]] == ["FIS420"]


def test_reduce_and_verify_take_a_model(tmp_path, capsys):
    saved(
        tmp_path / "model.onnx",
        [helper.make_node("Abs", ["x"], ["y"])],
        [("x", FLOAT, (3, 4))],
        [("y", FLOAT, (3, 4))],
    )
    status, report = command(tmp_path, "verify", tmp_path / "model.onnx", "--on=local-task")
    assert status == 0, report
    assert main(["reduce", str(tmp_path / "model.onnx"), *built.CPU, "-o", str(tmp_path / "r.mlir")]) == 2
    assert "nothing" in capsys.readouterr().err  # nothing fails


@since("3.13", "the import writes a convolution that fits")
def test_a_failing_dispatch_names_tensors_of_the_model_and_replaces_no_op(tmp_path):
    model = tmp_path / "model.onnx"
    script = Path(__file__).parents[3] / "examples" / "quantised_onnx.py"
    subprocess.run([sys.executable, str(script), str(model)], check=True, capture_output=True)
    report = run_check(str(model), ["gfx942"], probe="never")
    (error,) = report.errors
    assert error.code == "FIS101" and error.ledger.lines[0].value == "x_relu 64x56x56xf32"
    assert error.helps[0].title == "compute x_relu in a separate dispatch, read it back by tile"


def test_an_import_says_what_it_waits_for(tmp_path):
    from fissile.pipelines.status import listened

    attention(tmp_path / "model.onnx")
    lines: list[str] = []
    with listened(lines.append):
        imported.importable(tmp_path / "model.onnx", tmp_path)
    assert lines and lines[0].startswith(f"importing {tmp_path / 'model.onnx'}, limit ")

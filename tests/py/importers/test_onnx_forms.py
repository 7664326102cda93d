"""Forms of ONNX ops that IREE misreads (FIS162) or rejects (FIS421), and models of old opsets: as onnxruntime computes them."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

onnx = pytest.importorskip("onnx", reason="the onnx extra is not installed")
pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
from bench.onnx_programs import entries  # noqa: E402
from bench.onnx_programs.__main__ import imported, tables  # noqa: E402

tables(forms=True)

MISREAD = {
    "d2s_CRD_2_3": "fissile-shuffle-pixels",
    "d2s_CRD_3_5": "fissile-shuffle-pixels",
    "Hardmax_11_1": "fissile-flatten-axes",
    "Hardmax_11_0": "fissile-flatten-axes",
    "split_11": "fissile-slice-parts",
    "maxpool_idx_1": "fissile-number-elements",
    "maxpool_idx_3": "fissile-number-elements",
    "maxpool_idx_4": "fissile-number-elements",
    "maxpool_idx_5": "fissile-number-elements",
    "z1idx_1": "fissile-number-elements",
    "LSTM_forward_peep": "fissile-write-out-layers",
    "LSTM_bidirectional_lens": "fissile-write-out-layers",
    "GRU_forward_lens": "fissile-write-out-layers",
    "RNN_forward_lens": "fissile-write-out-layers",
    "RNN_forward_clip": "fissile-write-out-layers",
    "RNN_leaky": "fissile-write-out-layers",
    "GRU_hard": "fissile-write-out-layers",
    "GRU_elu": "fissile-write-out-layers",
}
"""Stock builds them, and computes other numbers."""
REJECTED = {
    "Softmax_11_1": "fissile-flatten-axes",
    "Softmax_11_-1": "fissile-flatten-axes",
    "xsoftmax_dyn": "fissile-flatten-axes",
    "LSTM_reverse_peep": "fissile-write-out-layers",
    "LSTM_bidirectional_layout": "fissile-write-out-layers",
    "LSTM_forward_forget": "fissile-write-out-layers",
    "LSTM_bidirectional_clip": "fissile-write-out-layers",
    "GRU_bidirectional_lbr": "fissile-write-out-layers",
    "GRU_bidirectional_acts": "fissile-write-out-layers",
    "GRU_reverse_init": "fissile-write-out-layers",
    "RNN_bidirectional_lens": "fissile-write-out-layers",
    "LSTM_reverse_open": "fissile-write-out-layers",
    "LSTM_reverse_long": "fissile-write-out-layers",
    "GRU_reverse_open": "fissile-write-out-layers",
    "GRU_long_lens": "fissile-write-out-layers",
    "dft_00": "fissile-transform-signals",
    "dft_01": "fissile-transform-signals",
    "dft_len": "fissile-transform-signals",
    "xdft20_def": "fissile-transform-signals",
    "xstft_full": "fissile-transform-signals",
    "variadic_Sum": "fissile-broadcast-operands",
    "variadic_Max": "fissile-broadcast-operands",
    "variadic_Mean": "fissile-broadcast-operands",
    "expand_less": "fissile-broadcast-operands",
    "pad_axes_reflect": "fissile-wrap-pads",
    "maxpool_storage": "fissile-number-elements",
}
OLD = ("zbn7", "zdrop10", "zgathernd11", "zresize10", "zresize10n", "zslice1", "ztopk1", "zunsq11", "zup7", "zupl_3", "upsample_9_linear")  # fmt: skip
READ = ("GRU_forward_plain", "LSTM_bidirectional_init", "Hardmax_13_1", "Softmax_13_1", "d2s_DCR_2_3", "z1idx_sym", "zsplit_11eq", "pad_reflect_1")  # fmt: skip
"""What stock reads as it is."""
TARGETS = {"local-task": CPU, "vulkan": ["--iree-hal-target-device=vulkan"]}


class Form:
    """A program of the table, imported or not, and what it computes."""

    def __init__(self, name: str, folder, suffix: str) -> None:
        found = entries.program(f"form_{name}")
        assert found is not None
        model, self.arguments, self.expected = found
        self.imported, self.source = folder / "main.mlir", folder / f"main.{suffix}"
        self.imported.write_text(imported(model))
        if suffix == "onnx":
            onnx.save(model, self.source)
        self.built = folder / "main.vmfb"

    def compiled(self, runtime: str):
        return fissile.compile(self.source, self.built, TARGETS[runtime], check=False)

    def is_right(self, runtime: str, module=None) -> bool:
        """What a module computes is right within 0.2% of the largest value."""
        [found] = runtimes.named([runtime])
        signature = signatures_of_source(self.imported)["main"]
        answer = runtimes.run(module or self.built, signature, self.arguments, found)
        assert isinstance(answer, list), answer
        return all(_same(got, wanted) for got, wanted in zip(answer, self.expected, strict=True))


def _same(got: np.ndarray, wanted: np.ndarray) -> bool:
    if got.shape != wanted.shape:
        return False
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    return bool(np.allclose(got, wanted, rtol=1e-3, atol=2e-3 * max(1e-6, np.abs(wanted).max(initial=0))))


@pytest.mark.parametrize("runtime", TARGETS)
@pytest.mark.parametrize("name", MISREAD)
def test_what_stock_misreads_is_repaired(tmp_path, name, runtime):
    form = Form(name, tmp_path, "mlir")
    report = form.compiled(runtime)
    [finding] = [one for one in report.findings if one.code == "FIS162"]
    assert dict(finding.helps[0].facts)["pass"] == MISREAD[name]
    assert form.is_right(runtime)


@pytest.mark.parametrize("name", MISREAD)
def test_stock_misreads_it(tmp_path, name):
    """Where stock is right, IREE has changed, and this part of FIS162 is not needed any more."""
    form = Form(name, tmp_path, "mlir")
    assert compile_stock(form.source, form.built, [*CPU], timeout=300.0) is None
    assert not form.is_right("local-task")


@pytest.mark.parametrize("runtime", TARGETS)
@pytest.mark.parametrize("name", REJECTED)
def test_what_stock_rejects_is_written_with_other_ops(tmp_path, name, runtime):
    form = Form(name, tmp_path, "mlir")
    report = form.compiled(runtime)
    passes = [dict(help.facts).get("pass") for one in report.findings for help in one.helps]
    assert REJECTED[name] in passes and not report.errors
    assert form.is_right(runtime)


@pytest.mark.parametrize("name", REJECTED)
def test_stock_rejects_it(tmp_path, name):
    form = Form(name, tmp_path, "mlir")
    assert compile_stock(form.source, form.built, [*CPU], timeout=300.0) is not None


@pytest.mark.parametrize("name", OLD)
def test_a_model_of_an_old_opset_is_converted(tmp_path, name):
    form = Form(name, tmp_path, "onnx")
    report = form.compiled("local-task")
    [finding] = [one for one in report.findings if one.code == "FIS421"]
    assert finding.severity.value == "repaired" and finding.helps[0].remedy == "onnx-opset"
    assert form.is_right("local-task")


@pytest.mark.parametrize("name", READ)
def test_what_stock_reads_stays(tmp_path, name):
    form = Form(name, tmp_path, "mlir")
    report = form.compiled("local-task")
    assert not {one.code for one in report.findings} & {"FIS162", "FIS421"}
    assert form.is_right("local-task")
    if not report.findings:  # no check of a size was added
        stock = tmp_path / "stock.vmfb"
        assert compile_stock(form.source, stock, [*CPU], timeout=300.0) is None
        assert form.built.read_bytes() == stock.read_bytes()


def test_an_imported_model_that_wraps_ends(tmp_path):
    """IREE never finishes on the op; the importer hands over bytecode, where no name has quotes."""
    form = Form("pad_wrap_0", tmp_path, "onnx")
    report = form.compiled("local-task")
    passes = [dict(help.facts).get("pass") for one in report.findings for help in one.helps]
    assert passes == ["fissile-wrap-pads"] and form.is_right("local-task")


def test_text_of_an_old_opset_says_how_it_is_imported(tmp_path):
    report = Form("zbn7", tmp_path, "mlir").compiled("local-task")
    [error] = report.errors
    assert error.code == "FIS421" and "opset 9" in error.notes[-1] and "--opset-version=17" in error.notes[-1]

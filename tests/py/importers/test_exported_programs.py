"""Exported PyTorch programs as input, where PyTorch and iree-turbine are installed."""

from __future__ import annotations

import json

import built
import numpy as np
import pytest

from fissile.cli.main import main

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("iree.turbine", reason="iree-turbine is not installed")


class Masks(torch.nn.Module):
    """What the exported language models need: `&`, a difference of neighbours, a region without gradients, a split."""

    def forward(self, a, b):
        with torch.no_grad():
            kept = (a > 0) & (b > 0)
        left, right = torch.split(torch.diff(a, prepend=b[:, :1]), 4, dim=1)
        return kept, left * right


class Distance(torch.nn.Module):
    """An op that neither IREE nor a pass of fissile's writes otherwise, and that PyTorch decomposes."""

    def forward(self, a, b):
        return torch.nn.functional.smooth_l1_loss(a, b)


@pytest.mark.parametrize(
    ("module", "element", "ops"),
    [
        (Masks, torch.int64, {"aten.__and__.Tensor", "aten.diff"}),
        (Distance, torch.float32, {"aten.smooth_l1_loss"}),
    ],
)
def test_an_exported_program_enters_and_agrees_with_pytorch(tmp_path, module, element, ops):
    arguments = tuple(torch.randint(-5, 5, (3, 8)).to(element) for _ in range(2))
    torch.export.save(torch.export.export(module(), arguments), tmp_path / "model.pt2")
    words = [
        "compile",
        str(tmp_path / "model.pt2"),
        *built.CPU,
        "--guard=off",
        "-o",
        str(tmp_path / "out.vmfb"),
    ]
    report = tmp_path / "report.json"
    assert main([*words, "--format=json", f"--report-file={report}"]) == 0, report.read_text()
    findings = json.loads(report.read_text())["findings"]
    assert ops <= {f["subject"] for f in findings} and {f["severity"] for f in findings} == {"repaired"}
    import iree.runtime as runtime

    program = runtime.load_vm_flatbuffer_file(str(tmp_path / "out.vmfb"), driver="local-sync")
    got = program.main(*(one.numpy() for one in arguments))
    expected = module()(*arguments)
    several = expected if isinstance(expected, tuple) else (expected,)
    for mine, right in zip(got if isinstance(got, tuple | list) else (got,), several, strict=True):
        np.testing.assert_allclose(mine.to_host(), right.numpy(), rtol=1e-6)


def test_large_weights_of_bfloat16(tmp_path):
    """iree-turbine makes a NumPy array of each, and NumPy has no bfloat16."""
    torch.manual_seed(5)
    module, x = torch.nn.Linear(64, 48).to(torch.bfloat16), torch.randn(2, 64).to(torch.bfloat16)
    torch.export.save(torch.export.export(module, (x,)), tmp_path / "model.pt2")
    words = ["compile", str(tmp_path / "model.pt2"), *built.CPU, "--guard=off", "-o", str(tmp_path / "out.vmfb")]  # fmt: skip
    assert main(words) == 0
    import iree.runtime as runtime

    program = runtime.load_vm_flatbuffer_file(str(tmp_path / "out.vmfb"), driver="local-sync")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    got = program.main(x.view(torch.int16).numpy().view(ml_dtypes.bfloat16)).to_host()
    right = module(x).detach().float().numpy()
    np.testing.assert_allclose(
        np.asarray(got).view(ml_dtypes.bfloat16).astype(np.float32), right, rtol=0.05, atol=0.05
    )


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.attn = torch.nn.Linear(8, 8)

    def forward(self, x):
        return x + torch.nn.functional.smooth_l1_loss(self.attn(self.norm(x)), x)


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_a_finding_names_the_module_that_an_op_stands_in(tmp_path):
    torch.export.save(torch.export.export(Stack(), (torch.zeros(2, 8),)), tmp_path / "model.pt2")
    report = tmp_path / "report.json"
    words = ["check", str(tmp_path / "model.pt2"), "--target=llvm-cpu", "--probe=never", "--format=json"]
    assert main([*words, f"--report-file={report}"]) == 1
    [finding] = json.loads(report.read_text())["findings"]
    assert finding["subject"] == "aten.smooth_l1_loss"
    assert finding["places"][0]["name"] == "layers.0"


class Growing(torch.nn.Module):
    """`+=` is exported as an op that writes into its operand."""

    def forward(self, a, b):
        made = a * 2
        made += b
        return made


def test_an_op_that_writes_into_its_operand_enters(tmp_path):
    arguments = tuple(torch.randn(3, 8) for _ in range(2))
    source, output = tmp_path / "model.pt2", tmp_path / "out.vmfb"
    exported = torch.export.export(Growing(), arguments)
    assert "add_" in str(exported.graph)
    torch.export.save(exported, source)
    assert main(["compile", str(source), *built.CPU, "-o", str(output)]) == 0
    import iree.runtime as runtime

    got = runtime.load_vm_flatbuffer_file(str(output), driver="local-sync").main(
        *(one.numpy() for one in arguments)
    )
    np.testing.assert_allclose(got.to_host(), Growing()(*arguments).numpy(), rtol=1e-6)


class Experts(torch.nn.Module):
    def forward(self, x, matrices, ends):
        return torch.ops.transformers.grouped_mm_fallback(x, matrices, ends)


def test_an_op_of_a_library_is_registered_by_it(tmp_path):
    pytest.importorskip("transformers.integrations.moe", reason="transformers is not installed")
    x, matrices, ends = torch.randn(7, 3), torch.randn(4, 3, 5), torch.tensor([2, 2, 5, 7], dtype=torch.int32)
    source, output = tmp_path / "model.pt2", tmp_path / "out.vmfb"
    torch.export.save(torch.export.export(Experts(), (x, matrices, ends)), source)
    assert main(["compile", str(source), *built.CPU, "-o", str(output)]) == 0
    import iree.runtime as runtime

    got = runtime.load_vm_flatbuffer_file(str(output), driver="local-sync").main(
        x.numpy(), matrices.numpy(), ends.numpy()
    )
    np.testing.assert_allclose(got.to_host(), Experts()(x, matrices, ends).numpy(), rtol=1e-5, atol=1e-5)


class Sizes(torch.nn.Module):
    """What the exporter keeps as Python's functions on a symbolic size, and iree-turbine does not import."""

    def forward(self, x):
        size = x.shape[1]
        padded = torch.nn.functional.pad(x, (0, torch.sym_max(size, 20) - size))
        halves = x[:, : torch.sym_int(size / 2)] * torch.sym_sqrt(torch.sym_float(size))
        shifted = x[:, : size >> 2] + (size << 1) / torch.sym_float(size)
        larger = torch.nn.functional.interpolate(x[None], scale_factor=1.5, recompute_scale_factor=True)
        return padded, halves, shifted, larger, torch.arange(size**2), x[:, : torch.sym_min(size, 7) - 3]


def test_functions_on_a_size(tmp_path):
    import iree.runtime as runtime

    module, given = Sizes(), torch.randn(3, 13)
    automatic = torch.export.Dim.AUTO
    exported = torch.export.export(module, (given,), dynamic_shapes=({0: automatic, 1: automatic},))
    torch.export.save(exported, tmp_path / "model.pt2")
    words = ["compile", str(tmp_path / "model.pt2"), *built.CPU, "-o", str(tmp_path / "out.vmfb")]
    assert main(words) == 0
    program = runtime.load_vm_flatbuffer_file(str(tmp_path / "out.vmfb"), driver="local-sync")
    for size in (13, 18, 25):
        x = torch.randn(3, size)
        for got, wanted in zip(program.main(x.numpy()), module(x), strict=True):
            np.testing.assert_allclose(np.asarray(got), wanted.numpy(), rtol=1e-5)


def test_a_function_on_a_size_that_is_not_imported(tmp_path, capsys):
    class Chosen(torch.nn.Module):
        def forward(self, x):
            return x[: torch.sym_ite(x.shape[0] > 10, x.shape[0] - 3, x.shape[0])]

    exported = torch.export.export(Chosen(), (torch.randn(13),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    torch.export.save(exported, tmp_path / "model.pt2")
    assert main(["compile", str(tmp_path / "model.pt2"), *built.CPU, "-o", str(tmp_path / "out.vmfb")]) == 1
    told = capsys.readouterr()
    assert "iree-turbine does not import sym_ite of a size; compute it with" in told.out + told.err

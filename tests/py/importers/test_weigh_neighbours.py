"""Interpolations of torch that IREE has no lowering for. The expected numbers are PyTorch's (torch.nn.functional.interpolate, 2.14)."""

from __future__ import annotations

from dataclasses import dataclass

import built
import numpy as np
import pytest

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source


@dataclass(frozen=True)
class Case:
    """``arange`` of the shape's size, squared, interpolated to ``size``."""

    op: str
    shape: tuple[int, ...]
    size: tuple[int, ...]
    corners: bool
    expected: list[float]
    scale: float = 0.0

    @property
    def text(self) -> str:
        rank = len(self.size)
        given, made = (f"!torch.vtensor<[1,1,{','.join(map(str, s))}],f32>" for s in (self.shape, self.size))
        is_vec = self.op.endswith(".vec")
        lines = ["%none = torch.constant.none", f"%corners = torch.constant.bool {str(self.corners).lower()}"]
        lines += [f"%n{i} = torch.constant.int {n}" for i, n in enumerate(self.size)]
        names, types = ", ".join(f"%n{i}" for i in range(rank)), ", ".join(["!torch.int"] * rank)
        lines.append(f"%size = torch.prim.ListConstruct {names} : ({types}) -> !torch.list<int>")
        if self.scale:
            lines += [f"%s = torch.constant.float {self.scale}"]
            lines += ["%scales = torch.prim.ListConstruct %s : (!torch.float) -> !torch.list<float>"]
            operands, kinds = ["%none", "%corners", "%scales"], ["none", "bool", "list<float>"]
        else:
            count = 1 if is_vec else rank
            operands, kinds = (
                ["%size", "%corners", *["%none"] * count],
                ["list<int>", "bool", *["none"] * count],
            )
        signature = f"({given}, {', '.join(f'!torch.{kind}' for kind in kinds)}) -> {made}"
        lines.append(f'%r = torch.operator "torch.aten.{self.op}"(%x, {", ".join(operands)}) : {signature}')
        body = "\n  ".join(lines)
        return f"func.func @main(%x: {given}) -> {made} {{\n  {body}\n  return %r : {made}\n}}\n"


CASES = {
    "linear": Case("upsample_linear1d.vec", (6,), (4,), False, [0.25, 3.25, 10.75, 22.75]),
    "linear_corners": Case("upsample_linear1d", (6,), (4,), True, [0.0, 3.0, 11.33333, 25.0]),
    "linear_scaled": Case(
        "upsample_linear1d.vec", (6,), (9,), False, [0.0, 0.5, 1.5, 3.5, 6.5, 10.16667, 14.83333, 20.5, 25.0], 1.5
    ),
    "cubic": Case(
        "upsample_bicubic2d.vec", (4, 4), (3, 5), False,
        [1.3409, 2.4696, 5.1018, 9.6001, 13.8558, 33.2103, 41.7193, 54.125, 68.3968, 80.0327, 131.8945, 147.7838, 169.963, 194.0083,
         213.0245],
    ),
    "cubic_corners": Case(
        "upsample_bicubic2d", (4, 4), (3, 5), True,
        [0.0, 0.457, 2.125, 5.4492, 9.0, 34.0, 42.4727, 54.125, 67.4336, 79.0, 144.0, 160.4883, 182.125, 205.418, 225.0],
    ),
    "trilinear": Case(
        "upsample_trilinear3d.vec", (2, 2, 2), (3, 2, 3), False,
        [0.0, 0.5, 1.0, 4.0, 6.5, 9.0, 8.0, 10.5, 13.0, 20.0, 24.5, 29.0, 16.0, 20.5, 25.0, 36.0, 42.5, 49.0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_pytorch_computes(tmp_path, name):
    case = CASES[name]
    source, output = tmp_path / "main.mlir", tmp_path / "out.vmfb"
    source.write_text(case.text)
    assert compile_stock(source, tmp_path / "stock.vmfb", [*built.CPU], timeout=300.0) is not None
    report = fissile.compile(source, output, [*built.CPU], check=False)
    assert [(f.code, f.severity.value, f.subject) for f in report.findings] == [
        ("FIS421", "repaired", f"aten.{case.op}")
    ]
    [runtime] = runtimes.named(["local-task"])
    x = (np.arange(np.prod(case.shape), dtype=np.float32) ** 2).reshape(1, 1, *case.shape)
    [found] = runtimes.run(output, signatures_of_source(source)["main"], [x], runtime)
    np.testing.assert_allclose(found.ravel(), case.expected, rtol=1e-4, atol=1e-4)


def test_a_size_that_is_not_known_is_refused(tmp_path):
    source, output = tmp_path / "main.mlir", tmp_path / "out.vmfb"
    source.write_text(CASES["linear"].text.replace("[1,1,6]", "[1,1,?]"))
    report = fissile.compile(source, output, [*built.CPU], check=False)
    assert report.exit_code == 1 and not output.exists()

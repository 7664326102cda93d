"""Stable sorts, quantiles, pads, bags of embeddings and inverse transforms of PyTorch, which IREE rejects (FIS421): as NumPy computes them."""

from __future__ import annotations

import numpy as np
from built import CPU
from entered_programs import all_computed, compiled, written

import fissile

RNG = np.random.default_rng(50)
_CONSTANTS = """
  %none = torch.constant.none
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %3 = torch.constant.int 3
  %4 = torch.constant.int 4
  %8 = torch.constant.int 8
  %15 = torch.constant.int 15
  %m1 = torch.constant.int -1
  %m2 = torch.constant.int -2
  %half = torch.constant.float 5.000000e-01
  %tenth = torch.constant.float 1.000000e-01
  %three = torch.constant.float 3.000000e+00
"""


def _kind(array) -> str:
    element = {"float32": "f32", "int64": "si64", "int32": "si32", "uint8": "ui8", "bool": "i1", "complex64": "complex<f32>"}  # fmt: skip
    return f"!torch.vtensor<[{','.join(map(str, array.shape))}],{element[array.dtype.name]}>"


class _Program:
    """Ops on named arrays; each op is one or more results, with what is expected."""

    def __init__(self, **given):
        self.given, self.lines, self.results = given, [], []

    def op(self, name: str, operands: str, *expected, kinds: dict[str, str] | None = None) -> None:
        """``expected``: an array, or the type of a result that is not compared."""
        kinds = kinds or {}
        named = {"%none": "!torch.none", "%false": "!torch.bool", "%true": "!torch.bool"}
        types = [
            kinds.get(one)
            or named.get(one)
            or (_kind(self.given[one[1:]]) if one[1:] in self.given else None)
            or ("!torch.float" if one in ("%half", "%tenth", "%three") else "!torch.int")
            for one in operands.split()
        ]
        made = [one if isinstance(one, str) else _kind(one) for one in expected]
        at, count = f"%r{len(self.lines)}", len(made)
        self.lines.append(
            f'  {at}{f":{count}" if count > 1 else ""} = torch.operator "torch.aten.{name}"'
            f"({', '.join(operands.split())}) : ({', '.join(types)}) -> {'(' + ', '.join(made) + ')' if count > 1 else made[0]}"
        )
        for number, one in enumerate(expected):
            if not isinstance(one, str):
                self.results.append((f"{at}#{number}" if count > 1 else at, one))

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def text(self) -> str:
        arguments = ", ".join(f"%{name}: {_kind(one)}" for name, one in self.given.items())
        types = ", ".join(_kind(one) for _name, one in self.results)
        values = ", ".join(name for name, _one in self.results)
        body = "\n".join(self.lines)
        return f"func.func @main({arguments}) -> ({types}) {{{_CONSTANTS}{body}\n  return {values} : {types}\n}}\n"

    def check(self, tmp_path) -> None:
        """Built, reported as repaired, and right."""
        written(tmp_path, self.text())
        report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
        severities = {one.severity.value for one in report.findings if one.code == "FIS421"}
        assert severities == {"repaired"}, report.findings
        answers = all_computed(tmp_path, *self.given.values())
        for (name, right), got in zip(self.results, answers, strict=True):
            np.testing.assert_allclose(
                np.asarray(got), right, rtol=2e-5, atol=2e-5, equal_nan=True, err_msg=name
            )


def test_sorts_that_keep_the_order_of_equal_elements(tmp_path):
    x = RNG.integers(0, 4, (3, 9)).astype(np.float32)
    b = RNG.integers(0, 256, (2, 7)).astype(np.uint8)
    b[:, 3] = b[:, 0]
    program = _Program(x=x, b=b)
    down = np.argsort(-x, -1, kind="stable")
    program.op("sort.stable", "%x %true %m1 %true", np.take_along_axis(x, down, -1), down)
    program.op("argsort.stable", "%x %true %0 %false", np.argsort(x, 0, kind="stable"))
    program.op("argsort.stable", "%b %true %1 %false", np.argsort(b, 1, kind="stable"))
    program.check(tmp_path)


def test_quantiles_and_medians(tmp_path):
    x = RNG.standard_normal((4, 9)).astype(np.float32)
    x[2, 5] = np.nan
    holes = x.copy()
    holes[0, [0, 3]], holes[3] = np.nan, np.nan
    shares = np.array([0, 0.3, 1], np.float32)
    program = _Program(x=x, h=holes, s=shares)
    way = {"%w": "!torch.str", "%n": "!torch.str", "%l": "!torch.str"}
    for name, what in (("w", "linear"), ("n", "nearest"), ("l", "midpoint")):
        program.line(f'%{name} = torch.constant.str "{what}"')
    program.op("quantile", "%x %s %m1 %true %w", np.quantile(x, shares, -1, keepdims=True).astype(np.float32), kinds=way)  # fmt: skip
    program.op("quantile.scalar", "%x %tenth %0 %false %n", np.quantile(x, 0.1, 0, method="nearest"), kinds=way)  # fmt: skip
    program.op("quantile.scalar", "%x %half %none %false %l", np.float32(np.nan).reshape(()), kinds=way)
    with np.errstate(all="ignore"):
        known = np.nanquantile(holes, 0.1, -1).astype(np.float32)
    program.op("nanquantile.scalar", "%h %tenth %1 %false %w", known, kinds=way)
    right = [np.sort(row[~np.isnan(row)]) for row in holes]
    lower = np.array([row[(len(row) - 1) // 2] if len(row) else np.nan for row in right], np.float32)
    program.op("nanmedian.dim", "%h %1 %false", lower, "!torch.vtensor<[4],si64>")
    every = np.sort(holes[~np.isnan(holes)])
    program.op("nanmedian", "%h", every[(len(every) - 1) // 2].reshape(()))
    program.check(tmp_path)


def _convolved(x, w, step: int):
    total = step * (w.shape[-1] - 1)
    wide = np.pad(x, ((0, 0), (0, 0), (total // 2, total - total // 2)))
    windows = np.stack([wide[..., k * step : k * step + x.shape[-1]] for k in range(w.shape[-1])], -1)
    return np.einsum("ncik,ock->noi", windows, w)


def test_layers(tmp_path):
    x, w, bias = (RNG.standard_normal(shape).astype(np.float32) for shape in ((2, 3, 8), (4, 3, 4), (4,)))
    flat, index = RNG.standard_normal(12).astype(np.float32), np.array([1, 5, -1], np.int64)
    mask, sign = RNG.random((3, 8)) < 0.5, np.array([1, -1, 1, 1], np.int64)
    program = _Program(x=x, w=w, b=bias, v=flat, i=index, m=mask, s=sign, row=x[0, 0].copy())
    program.line("%ones = torch.prim.ListConstruct %1 : (!torch.int) -> !torch.list<int>")
    program.line("%threes = torch.prim.ListConstruct %3 : (!torch.int) -> !torch.list<int>")
    program.line("%dims = torch.prim.ListConstruct %m1 : (!torch.int) -> !torch.list<int>")
    program.line("%widths = torch.prim.ListConstruct %m2, %3 : (!torch.int, !torch.int) -> !torch.list<int>")
    for name, what in (("same", "same"), ("replicate", "replicate"), ("circular", "circular")):
        program.line(f'%{name} = torch.constant.str "{what}"')
    kinds = {f"%{one}": "!torch.list<int>" for one in ("ones", "threes", "dims", "widths")}
    kinds |= {f"%{one}": "!torch.str" for one in ("same", "replicate", "circular")}
    program.op("conv1d.padding", "%x %w %b %ones %same %threes %1", _convolved(x, w, 3) + bias[:, None], kinds=kinds)  # fmt: skip
    cropped = x[..., 2:]
    program.op("pad", "%x %widths %replicate %none", np.pad(cropped, ((0, 0), (0, 0), (0, 3)), "edge"), kinds=kinds)  # fmt: skip
    program.op("pad", "%x %widths %circular %none", np.pad(cropped, ((0, 0), (0, 0), (0, 3)), "wrap"), kinds=kinds)  # fmt: skip
    scattered = np.broadcast_to(x[0, 0], mask.shape).copy()
    scattered[mask] = x.reshape(-1)[: mask.sum()]
    program.op("masked_scatter", "%row %m %x", scattered)
    program.op("linalg_norm", "%x %none %none %false %none", np.linalg.norm(x.reshape(-1)).reshape(()))
    program.op("linalg_norm", "%x %three %dims %true %none", (np.abs(x) ** 3).sum(-1, keepdims=True) ** (1 / 3), kinds=kinds)  # fmt: skip
    loss = np.maximum(0, -sign * (bias - flat[:4]) + 0.5)
    program.line("%first = torch.aten.slice.Tensor %v, %0, %0, %4, %1 : !torch.vtensor<[12],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4],f32>")  # fmt: skip
    program.op("margin_ranking_loss", "%b %first %s %half %1", loss.mean().astype(np.float32).reshape(()), kinds={"%first": "!torch.vtensor<[4],f32>"})  # fmt: skip
    program.check(tmp_path)


def test_elements(tmp_path):
    x, v, index = RNG.standard_normal((4, 3)).astype(np.float32), RNG.standard_normal(3).astype(np.float32), np.array([1, 5, -1], np.int64)  # fmt: skip
    program = _Program(x=x, v=v, i=index)
    program.op("pdist", "%x %three", np.array([(np.abs(x[a] - x[b]) ** 3).sum() ** (1 / 3) for a in range(4) for b in range(a + 1, 4)], np.float32))  # fmt: skip
    for adds, name in ((False, "%false"), (True, "%true")):
        right = x.reshape(-1).copy()
        right[index] = v + (right[index] if adds else 0)
        program.op("put", f"%x %i %v {name}", right.reshape(x.shape))
    program.op("remainder.Scalar_Tensor", "%three %v", np.mod(np.float32(3), v))
    program.op("vander", "%v %4 %false", np.vander(v, 4).astype(np.float32))
    program.check(tmp_path)


def _affine(matrix, sizes, corners: bool):
    axes = [np.linspace(-1, 1, n) * (1 if corners else (n - 1) / n) if n > 1 else np.zeros(1) for n in sizes]
    grid = np.meshgrid(*axes, indexing="ij")
    points = np.stack([*grid[::-1], np.ones(sizes)], -1)
    return np.einsum("...k,nck->n...c", points, matrix).astype(np.float32)


def test_affine_grids(tmp_path):
    """Of images and volumes, one of them of one column."""
    flat, deep = (RNG.standard_normal(shape).astype(np.float32) for shape in ((2, 2, 3), (1, 3, 4)))
    program = _Program(a=flat, b=deep)
    program.line("%image = torch.prim.ListConstruct %2, %3, %4, %8 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>")  # fmt: skip
    program.line("%volume = torch.prim.ListConstruct %1, %3, %4, %8, %1 : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>")  # fmt: skip
    kinds = {"%image": "!torch.list<int>", "%volume": "!torch.list<int>"}
    for name, corners in (("%false", False), ("%true", True)):
        program.op("affine_grid_generator", f"%a %image {name}", _affine(flat, (4, 8), corners), kinds=kinds)
        program.op("affine_grid_generator", f"%b %volume {name}", _affine(deep, (4, 8, 1), corners), kinds=kinds)  # fmt: skip
    program.check(tmp_path)


def test_bags_of_embeddings(tmp_path):
    table, weights = RNG.standard_normal((6, 3)).astype(np.float32), RNG.standard_normal(7).astype(np.float32)
    table[4] = np.inf  # of no bag
    indices, offsets = np.array([1, 3, 3, 0, 5, 2, 2], np.int64), np.array([0, 3, 3, 7], np.int64)
    program = _Program(t=table, i=indices, o=offsets, w=weights)
    others = tuple(f"!torch.vtensor<[{n}],si64>" for n in (7, 4, 4))
    bags = [indices[0:3], indices[3:3], indices[3:7], indices[7:]]

    def of(combine):
        return np.array([combine(table[bag]) if len(bag) else np.zeros(3) for bag in bags], np.float32)

    ops = "%t %i %o %false {} %false {} {} {}"
    weighed = np.array([(table[bag] * weights[at : at + len(bag), None]).sum(0) for at, bag in zip(offsets, bags, strict=True)], np.float32)  # fmt: skip
    program.op("embedding_bag.padding_idx", ops.format("%0", "%w", "%false", "%none"), weighed, *others)
    program.op("embedding_bag.padding_idx", ops.format("%1", "%none", "%false", "%none"), of(lambda rows: rows.mean(0)), *others)  # fmt: skip
    program.op("embedding_bag.padding_idx", ops.format("%2", "%none", "%false", "%none"), of(lambda rows: rows.max(0)), *others)  # fmt: skip
    kept = [bag[bag != 3] for bag in bags]
    skipped = np.array([table[bag].mean(0) if len(bag) else np.zeros(3) for bag in kept[:3]], np.float32)
    program.op("embedding_bag.padding_idx", ops.format("%1", "%none", "%true", "%3"), skipped, *(f"!torch.vtensor<[{n}],si64>" for n in (7, 3, 3)))  # fmt: skip
    program.check(tmp_path)


def _overlapped(frames, step: int):
    count, length = frames.shape[-2:]
    total = np.zeros((*frames.shape[:-2], length + step * (count - 1)))
    for number in range(count):
        total[..., number * step : number * step + length] += frames[..., number, :]
    return total


def test_signals(tmp_path):
    points, step, width = 15, 4, 8
    spectrum = (RNG.standard_normal((2, 8, 5)) + 1j * RNG.standard_normal((2, 8, 5))).astype(np.complex64)
    window = (RNG.random(width) + 0.5).astype(np.float32)
    program = _Program(x=spectrum, w=window)
    frames = np.fft.irfft(np.swapaxes(spectrum, -1, -2), points)
    wide = np.pad(window, ((points - width) // 2, points - width - (points - width) // 2))
    with np.errstate(all="ignore"):
        whole = _overlapped(frames * wide, step) / _overlapped(np.tile(wide**2, (5, 1)), step)
    begin = points // 2
    right = whole[..., begin:-begin].astype(np.float32)
    assert np.isfinite(right).all()
    program.op("istft", "%x %15 %4 %8 %w %true %false %none %none %false", right)
    short = np.pad(whole[..., begin : begin + 15], ((0, 0), (0, 0))).astype(np.float32)
    program.op("istft", "%x %15 %4 %8 %w %true %false %true %15 %false", short)
    one = np.ascontiguousarray(spectrum[0])
    program.given["one"] = one
    plain = np.fft.irfft(np.swapaxes(one, -1, -2), points, norm="ortho")
    whole = _overlapped(plain, step) / _overlapped(np.ones((5, points)), step)
    program.op("istft", "%one %15 %4 %none %none %true %true %true %none %false", whole[begin:-begin].astype(np.float32))  # fmt: skip
    program.op("hann_window", "%8 %none %none %none %none", np.hanning(9)[:-1].astype(np.float32))
    program.op("hamming_window.periodic", "%8 %false %none %none %none %none", np.hamming(8).astype(np.float32))  # fmt: skip
    program.check(tmp_path)


def _filtered(size: int, new: int, reach: int, weight):
    """The weights of an antialiasing filter, element by element."""
    step = size / new
    wide = max(step, 1.0)
    table = np.zeros((new, size))
    for one in range(new):
        center = step * (one + 0.5)
        first = max(int(center - reach * wide + 0.5), 0)
        for at in range(first, min(int(center + reach * wide + 0.5), size)):
            table[one, at] = weight(abs((at - center + 0.5) / wide))
    return table / table.sum(1, keepdims=True)


def _cubic(x: float) -> float:
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return -0.5 * (((x - 5) * x + 8) * x - 4) if x < 2 else 0.0


def test_resizing_with_a_filter(tmp_path):
    image = RNG.standard_normal((1, 2, 7, 9)).astype(np.float32)
    program = _Program(x=image)
    program.line("%size = torch.prim.ListConstruct %3, %15 : (!torch.int, !torch.int) -> !torch.list<int>")
    kinds = {"%size": "!torch.list<int>"}
    for name, reach, weight in (("bilinear", 1, lambda x: max(0.0, 1 - x)), ("bicubic", 2, _cubic)):
        rows, columns = _filtered(7, 3, reach, weight), _filtered(9, 15, reach, weight)
        right = np.einsum("ah,nchw,bw->ncab", rows, image, columns).astype(np.float32)
        program.op(f"_upsample_{name}2d_aa.vec", "%x %size %false %none", right, kinds=kinds)
    program.check(tmp_path)


def test_what_is_not_known_is_rejected(tmp_path):
    """A window that is no constant's length, and quantiles in a way that the call decides: with an error, and nothing written."""
    x = "!torch.vtensor<[4,9],f32>"
    text = (
        f"func.func @main(%x: {x}, %dim: !torch.int) -> !torch.vtensor<[4],f32> {{{_CONSTANTS}"
        '  %w = torch.constant.str "linear"\n'
        f'  %r = torch.operator "torch.aten.quantile.scalar"(%x, %half, %dim, %false, %w) : ({x}, !torch.float, !torch.int, !torch.bool, !torch.str)'
        " -> !torch.vtensor<[4],f32>\n  return %r : !torch.vtensor<[4],f32>\n}\n"
    )
    status, findings = compiled(tmp_path, text)
    assert status == 1 and not (tmp_path / "out.vmfb").exists()
    assert [(one["code"], one["subject"]) for one in findings] == [("FIS421", "aten.quantile.scalar")]

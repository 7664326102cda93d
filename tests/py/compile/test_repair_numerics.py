"""A repaired program computes what the original computes: drawn shapes, certified on llvm-cpu, run on Vulkan.

Every value here is a small integer times a power of two, so no sum rounds: in whatever order a repair adds,
equality is required, bit for bit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_programs import TARGETS

from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.pipelines.compile.entry import compile as compile_guarded
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.verify import Options, certify_transform, verify
from fissile.pipelines.repair.edits import CUT, FOLD, apply_edits, edits
from fissile.pipelines.session import Session

SCALE = 2.0**-7


@dataclass(frozen=True)
class Case:
    """Dequantise -> convolution (NCHW) or matmul -> requantise.

    ``sizes``: channels, filters, output size, kernel, stride; or M, N, K. ``transposed``: the int8 input has
    its last two dimensions swapped, and the dequantise swaps them back.
    """

    root: str
    sizes: tuple[int, ...]
    transposed: bool = False

    @property
    def image(self) -> tuple[int, ...]:
        if self.root == "matmul":
            return self.sizes[0], self.sizes[2]
        channels, _filters, size, kernel, stride = self.sizes
        # One row more than columns: a swap that is forgotten does not go unseen.
        return 1, channels, (size - 1) * stride + kernel + 1, (size - 1) * stride + kernel

    @property
    def weights(self) -> tuple[int, ...]:
        if self.root == "matmul":
            return self.sizes[2], self.sizes[1]
        return self.sizes[1], self.sizes[0], self.sizes[3], self.sizes[3]

    @property
    def stored(self) -> tuple[int, ...]:
        """The image as the function takes it."""
        *outer, rows, columns = self.image
        return (*outer, columns, rows) if self.transposed else self.image

    @property
    def result(self) -> tuple[int, ...]:
        if self.root == "matmul":
            return self.sizes[:2]
        _channels, filters, size, kernel, stride = self.sizes
        return 1, filters, (self.image[2] - kernel) // stride + 1, size


def convolutions(channels, filters, size):
    return st.builds(
        lambda c, f, s, k, stride, swapped: Case("conv", (c, f, s, k, stride), swapped),
        channels,
        filters,
        size,
        st.sampled_from((1, 3)),
        st.sampled_from((1, 2)),
        st.booleans(),
    )


def matmuls(most):
    return st.builds(
        lambda m, n, k, swapped: Case("matmul", (m, n, k), swapped),
        st.integers(1, most),
        *[st.integers(2, most)] * 2,
        st.booleans(),
    )


SMALL = st.one_of(convolutions(st.integers(1, 5), st.integers(1, 6), st.integers(2, 6)), matmuls(17))


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def elementwise(name, source, shape, kinds, body, swapped=False):
    """One op over ``shape``; ``swapped``: ``source`` has its last two dimensions the other way round."""
    loops = [f"d{i}" for i in range(len(shape))]
    read = [*loops[:-2], loops[-1], loops[-2]] if swapped else loops
    stored = (*shape[:-2], shape[-1], shape[-2]) if swapped else shape
    kinds_of_loops = ", ".join(['"parallel"'] * len(shape))
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(r)})>" for r in (read, loops))
    return f"""
  %{name}_e = tensor.empty() : {tensor(shape, kinds[1])}
  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds_of_loops}]}}
      ins(%{source} : {tensor(stored, kinds[0])}) outs(%{name}_e : {tensor(shape, kinds[1])}) {{
  ^bb0(%in: {kinds[0]}, %out: {kinds[1]}):
    {body}
    linalg.yield %y : {kinds[1]}
  }} -> {tensor(shape, kinds[1])}"""


DEQUANTISE = "%f = arith.sitofp %in : i8 to f32\n    %y = arith.mulf %f, %scale : f32"
QUANTISE = """%s = arith.divf %in, %scale : f32
    %n = math.roundeven %s : f32
    %l = arith.maximumf %n, %lo : f32
    %h = arith.minimumf %l, %hi : f32
    %y = arith.fptosi %h : f32 to i8"""


def program(case, scale=SCALE):
    out = tensor(case.result, "f32")
    given = f"{tensor(case.image, 'f32')}, {tensor(case.weights, 'f32')}"
    ins = f"ins(%xd, %wd : {given}) outs(%acc : {out}) -> {out}"
    strides = f"{{strides = dense<{case.sizes[-1]}> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}}"
    root = f"linalg.matmul {ins}" if case.root == "matmul" else f"linalg.conv_2d_nchw_fchw {strides} {ins}"
    return f"""
func.func @main(%x: {tensor(case.stored, "i8")}, %w: {tensor(case.weights, "i8")})
    -> {tensor(case.result, "i8")} {{
  %scale = arith.constant {scale} : f32
  %lo = arith.constant -128.0 : f32
  %hi = arith.constant 127.0 : f32
  %zero = arith.constant 0.0 : f32
  {elementwise("xd", "x", case.image, ("i8", "f32"), DEQUANTISE, case.transposed)}
  {elementwise("wd", "w", case.weights, ("i8", "f32"), DEQUANTISE)}
  %e = tensor.empty() : {out}
  %acc = linalg.fill ins(%zero : f32) outs(%e : {out}) -> {out}
  %r = {root}
  {elementwise("q", "r", case.result, ("f32", "i8"), QUANTISE)}
  return %q : {tensor(case.result, "i8")}
}}
"""


def in_numpy(case):
    def main(x, w):
        x = (x.swapaxes(-1, -2) if case.transposed else x) * SCALE
        w = w * SCALE
        if case.root == "matmul":
            total = x @ w
        else:
            (*_most, kernel, stride), (_n, _f, rows, columns) = case.sizes, case.result
            total = sum(
                np.einsum(
                    "nchw,fc->nfhw",
                    x[:, :, i : i + stride * rows : stride, j : j + stride * columns : stride][
                        ..., :rows, :columns
                    ],
                    w[:, :, i, j],
                )
                for i, j in itertools.product(range(kernel), repeat=2)
            )
        return np.clip(np.rint(total / SCALE), -128, 127).astype(np.int8)

    return main


@pytest.fixture(scope="module")
def session():
    return Session(TARGETS["gfx942"])


def dequantises(module):
    """The indices of both dequantising ops, the image's first."""
    return [
        index
        for index, op in enumerate(source_ops(module.op))
        if any(inner.operation.name == "arith.sitofp" for inner in op.regions[0].blocks[0].operations)
    ]


def at_global_optimisation(session, text):
    module = session.parse_text(text)
    session.run(module, "global-optimization")
    return module


@settings(max_examples=examples(4, 10))
@given(SMALL, st.sampled_from((CUT, FOLD)), st.sampled_from(("image", "weights", "both")))
def test_cut_off_or_folded_producers_give_the_same_bits(session, case, remedy, which):
    module = at_global_optimisation(session, program(case))
    original = module.text()
    image, weights = dequantises(module)
    apply_edits(
        module, edits(remedy, {"image": (image,), "weights": (weights,), "both": (image, weights)}[which])
    )
    repaired = module.text()
    # IREE may have put a reshape between a producer and its consumer; only next to it can it be folded.
    assume(remedy == CUT or repaired != original)
    assert repaired != original
    certificate = certify_transform(original, repaired)
    assert certificate.agrees and certificate.bit_identical, certificate.sentence


@settings(max_examples=examples(1, 3))
@given(convolutions(st.integers(30, 40), st.integers(16, 33), st.integers(21, 26)))
def test_what_gfx942_refuses_is_repaired_to_the_same_bits(tmp_path_factory, case):
    folder = tmp_path_factory.mktemp("gfx942")
    (folder / "in.mlir").write_text(program(replace(case, sizes=(*case.sizes[:3], 3, 1))))
    report = compile_guarded(folder / "in.mlir", folder / "out.vmfb", TARGETS["gfx942"], verify=True)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS101", "repaired")]
    assert report.facts["certificate"]["agrees"] and report.facts["certificate"]["bit_identical"]


@settings(max_examples=examples(2, 5))
@given(SMALL)
def test_packed_for_default_vulkan_it_is_what_numpy_computes(tmp_path_factory, case):
    if "vulkan" not in [runtime.name for runtime in runtimes.present()]:
        pytest.skip("no Vulkan device")
    folder = tmp_path_factory.mktemp("vulkan")
    (folder / "in.mlir").write_text(program(case))
    report = compile_guarded(folder / "in.mlir", folder / "out.vmfb", TARGETS["vulkan"])
    assert not report.errors and "FIS110" in [f.code for f in report.findings]
    certificate = verify(folder / "out.vmfb", reference=in_numpy(case), options=Options(on=("vulkan",)))
    assert certificate.agrees and certificate.bit_identical, certificate.sentence


SQUARE = Case("matmul", (9, 7, 9), transposed=True)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(program(replace(SQUARE, transposed=False)), id="reads the input as it lies"),
        pytest.param(program(SQUARE, scale=SCALE * 1.01), id="another scale"),
        pytest.param(program(SQUARE).replace("127.0", "126.0"), id="saturates one step early"),
    ],
)
def test_a_wrong_repair_is_caught(session, wrong):
    original = at_global_optimisation(session, program(SQUARE)).text()
    certificate = certify_transform(original, at_global_optimisation(session, wrong).text())
    assert not certificate.agrees and [f.code for f in certificate.findings] == ["FIS130"]

"""The findings on an attention's tiles hold: FIS133 and FIS134 where llvm-cpu computes wrong numbers, and nowhere else."""

import iree.runtime
import ml_dtypes
import numpy as np
import pytest
from built import CPU, run
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from small_programs import TARGETS

import fissile
from bench.programs.text.spelling import spelled
from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.pipelines.probe.stock_outcome import first_configured
from fissile.pipelines.session import Session

KINDS = {"f32": (np.float32, 1e-5), "f16": (np.float16, 1e-2), "bf16": (ml_dtypes.bfloat16, 6e-2)}
LAYOUTS = {
    "plain": ("bmk", "blk", "bln", "bmn"),
    "keys transposed": ("bmk", "bkl", "bln", "bmn"),
    "values transposed": ("bmk", "blk", "bnl", "bmn"),
    "heads inside": ("mbk", "lbk", "lbn", "mbn"),
}
CAUSAL = """
    %i = iree_linalg_ext.index 1 : index
    %j = iree_linalg_ext.index 2 : index
    %seen = arith.cmpi sge, %i, %j : index
    %never = arith.constant 0xFF800000 : f32
    %y = arith.select %seen, %x, %never : f32"""


def attention(
    batch, rows, depth, columns, width, element="f32", layout="plain", mask=False, dynamic="", causal=False
) -> str:
    """softmax(q k^T / 4 + mask) v; the loops named in ``dynamic`` (letters of b, m, l, k, n) have no static size."""
    size = {"b": batch, "m": rows, "k": depth, "l": columns, "n": width}

    def tensor(loops, kind=element):
        return f"tensor<{''.join(f'''{'?' if c in dynamic else size[c]}x''' for c in loops)}{kind}>"

    q, k, v, o = LAYOUTS[layout]
    named = {"q": q, "k": k, "v": v, **({"mask": "bml"} if mask else {})}
    kinds = {name: tensor(loops, "f32" if name == "mask" else element) for name, loops in named.items()}
    loops = [q, k, v, "", *(["bml"] if mask else []), o]
    maps = ", ".join(f"affine_map<(b, m, l, k, n) -> ({', '.join(to)})>" for to in loops)
    made, sizes = "", []
    for loop in (c for c in o if c in dynamic):
        name = "v" if loop == "n" else "q"
        made += f"  %c{loop} = arith.constant {named[name].index(loop)} : index\n"
        made += f"  %d{loop} = tensor.dim %{name}, %c{loop} : {kinds[name]}\n"
        sizes.append(f"%d{loop}")
    ins = ["%q", "%k", "%v", "%scale", *(["%mask"] if mask else [])]
    types = [kinds["q"], kinds["k"], kinds["v"], element, *([kinds["mask"]] if mask else [])]
    return spelled(f"""
func.func @main({", ".join(f"%{name}: {kind}" for name, kind in kinds.items())}) -> {tensor(o)} {{
{made}  %e = tensor.empty({", ".join(sizes)}) : {tensor(o)}
  %scale = arith.constant 0.25 : {element}
  %r = iree_linalg_ext.attention <{{indexing_maps = [{maps}]}}> ins({", ".join(ins)} : {", ".join(types)}) outs(%e : {tensor(o)}) {{
  ^bb0(%x: f32):{CAUSAL if causal else ""}
    iree_linalg_ext.yield {"%y" if causal else "%x"} : f32
  }} -> {tensor(o)}
  return %r : {tensor(o)}
}}
""")


def operands(sizes, element, layout, mask):
    r, size = np.random.default_rng(5), dict(zip("bmkln", sizes, strict=True))
    loops = LAYOUTS[layout][:3]
    made = [r.standard_normal([size[c] for c in to]).astype(KINDS[element][0]) for to in loops]
    return [*made, r.standard_normal([size[c] for c in "bml"]).astype(np.float32)] if mask else made


def expected(q, k, v, mask=None, layout="plain", causal=False):
    of_q, of_k, of_v, of_o = LAYOUTS[layout]
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.einsum(f"{of_q},{of_k}->bml", q, k) / 4 + (0 if mask is None else mask)
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum(f"bml,{of_v}->{of_o}", powers / powers.sum(axis=-1, keepdims=True), v)


def wrong(got, exact, element):
    return np.abs(got.astype(np.float64) - exact).max() > KINDS[element][1] * np.abs(exact).max()


@pytest.fixture(scope="module", params=("host", "generic"))
def session(request):
    return Session([*(f for f in CPU if "target-cpu" not in f), f"--iree-llvmcpu-target-cpu={request.param}"])


def predicted_and_computed(
    session, tmp_path, sizes, element="f32", layout="plain", mask=False, dynamic="", causal=False
):
    module = session.parse_text(attention(*sizes, element, layout, mask, dynamic, causal))
    session.run(module, "executable-configurations")
    found = [f for d in dispatches(module.op) if (f := first_configured(d))]
    session.run(module, "end")
    session.write(module, tmp_path / "out.vmfb")
    given_ = operands(sizes, element, layout, mask)
    program = iree.runtime.load_vm_flatbuffer_file(str(tmp_path / "out.vmfb"), driver="local-sync")
    got = program.main(*given_).to_host()
    return [f.code for f in found], wrong(got, expected(*given_, layout=layout, causal=causal), element)


GRID = (
    # batch, rows, depth, columns, width
    dict(sizes=(1, 16, 128, 16, 16)),
    dict(sizes=(1, 16, 129, 16, 16)),
    dict(sizes=(2, 6, 160, 20, 8), element="f16"),
    dict(sizes=(2, 6, 96, 20, 8), element="f16"),
    dict(sizes=(2, 5, 131, 7, 9), mask=True),
    dict(sizes=(1, 8, 144, 24, 8), layout="keys transposed"),
    dict(sizes=(2, 8, 136, 24, 8), layout="values transposed"),
    dict(sizes=(3, 8, 192, 8, 4), layout="heads inside"),
    dict(sizes=(2, 8, 64, 24, 8), layout="heads inside", mask=True),
    dict(sizes=(2, 8, 64, 24, 160)),
    dict(sizes=(1, 64, 16, 160, 16)),
    dict(sizes=(2, 7, 40, 33, 16), dynamic="bmln"),
)


@pytest.mark.parametrize("case", GRID, ids=str)
def test_the_head_dimension(session, tmp_path, case):
    codes, is_wrong = predicted_and_computed(session, tmp_path, **case)
    assert (codes == ["FIS133"]) == is_wrong and is_wrong == (case["sizes"][2] > 128)


@settings(max_examples=examples(2, 5), deadline=None, derandomize=True)
@given(
    sizes=st.tuples(
        st.integers(1, 3),
        st.integers(1, 20),
        st.sampled_from([1, 17, 127, 130, 150]),
        st.integers(2, 40),
        st.integers(1, 40),
    ),
    layout=st.sampled_from(list(LAYOUTS)),
    mask=st.booleans(),
    causal=st.booleans(),
)
def test_any_shape(tmp_path_factory, sizes, layout, mask, causal):
    sizes = (*sizes[:3], sizes[1], sizes[4]) if causal else sizes
    path = tmp_path_factory.mktemp("attention")
    codes, is_wrong = predicted_and_computed(Session(CPU), path, sizes, "f32", layout, mask, causal=causal)
    assert bool(codes) == is_wrong


@pytest.mark.parametrize("depth, is_wrong", [(4, False), (200, True)])
def test_a_dynamic_head_dimension_depends_on_the_call(tmp_path, depth, is_wrong):
    codes, computed = predicted_and_computed(Session(CPU), tmp_path, (2, 8, depth, 8, 8), dynamic="bmlkn")
    assert codes == ["FIS133"] and computed == is_wrong


@pytest.mark.parametrize("rows, code", [(1, []), (24, ["FIS134"])])
def test_an_index_of_a_tiled_loop(tmp_path, rows, code):
    codes, is_wrong = predicted_and_computed(Session(CPU), tmp_path, (2, rows, 8, rows, 8), causal=True)
    assert codes == code and is_wrong == bool(code)


@pytest.mark.parametrize(
    "sizes, element, causal, code",
    [((2, 8, 200, 8, 8), "f32", False, "FIS133"), ((2, 24, 8, 24, 8), "f16", True, "FIS134")],
)
def test_the_repair_is_right(tmp_path, sizes, element, causal, code):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(attention(*sizes, element, causal=causal))
    report = fissile.compile(source, output, list(CPU), check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [(code, "repaired")]
    given_ = operands(sizes, element, "plain", False)
    assert not wrong(run(output, given_)[0], expected(*given_, causal=causal), element)


def test_without_a_repair_the_output_is_withheld(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(attention(1, 8, 200, 8, 8))
    report = fissile.compile(source, output, list(CPU), repair="off", check=False)
    assert (
        not report.output
        and not output.exists()
        and [(f.code, f.severity.value) for f in report.findings] == [("FIS133", "error")]
    )


def test_on_a_gpu_an_index_is_found_in_the_configured_dispatch():
    """Which no runtime here can run: its rows are tiled one by one, and the region is copied as it is."""
    for causal in (True, False):
        session = Session(TARGETS["gfx942"])
        module = session.parse_text(attention(2, 64, 64, 64, 64, causal=causal))
        session.run(module, "executable-configurations")
        found = [f.code for d in dispatches(module.op) if (f := first_configured(d))]
        assert found == (["FIS134"] if causal else [])


def online(width: int, filled: bool) -> str:
    """An online attention that begins with zeros, or continues what its arguments say."""
    o, m = f"tensor<2x5x{width}xf32>", "tensor<2x5xf32>"
    before = (
        f"""
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -1.0e30 : f32
  %e = tensor.empty() : {o}
  %e1 = tensor.empty() : {m}
  %o = linalg.fill ins(%zero : f32) outs(%e : {o}) -> {o}
  %m = linalg.fill ins(%least : f32) outs(%e1 : {m}) -> {m}
  %s = linalg.fill ins(%zero : f32) outs(%e1 : {m}) -> {m}"""
        if filled
        else ""
    )
    given_ = "" if filled else f", %o: {o}, %m: {m}, %s: {m}"
    maps = [
        f"affine_map<(b, m, l, k, n) -> ({to})>"
        for to in ("b, m, k", "b, l, k", "b, l, n", "", "b, m, n", "b, m", "b, m")
    ]
    return spelled(f"""
func.func @main(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x{width}xf32>{given_}) -> ({o}, {m}, {m}) {{
  %scale = arith.constant 0.5 : f32{before}
  %r:3 = iree_linalg_ext.online_attention <{{indexing_maps = [{", ".join(maps)}]}}>
      ins(%q, %k, %v, %scale : tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x{width}xf32>, f32) outs(%o, %m, %s : {o}, {m}, {m}) {{
  ^bb0(%x: f32):
    iree_linalg_ext.yield %x : f32
  }} -> {o}, {m}, {m}
  return %r#0, %r#1, %r#2 : {o}, {m}, {m}
}}
""")


@pytest.mark.parametrize("width, filled", [(4, False), (6, False), (40, True), (40, False)])
def test_running_sums_and_a_tiled_width(session, tmp_path, width, filled):
    r = np.random.default_rng(2)
    given_ = [r.standard_normal(s).astype(np.float32) for s in ((2, 5, 8), (2, 7, 8), (2, 7, width))]
    given_ += (
        []
        if filled
        else [
            r.standard_normal((2, 5, width)).astype(np.float32),
            r.standard_normal((2, 5)).astype(np.float32),
            r.random((2, 5)).astype(np.float32),
        ]
    )
    q, k, v = (x.astype(np.float64) for x in given_[:3])
    scores = np.einsum("bmk,blk->bml", q, k) * 0.5 * np.log2(np.e)
    largest = scores.max(axis=-1) if filled else np.maximum(given_[4], scores.max(axis=-1))
    total = np.exp2(scores - largest[..., None]).sum(axis=-1) + (
        0 if filled else given_[5] * np.exp2(given_[4] - largest)
    )
    module = session.parse_text(online(width, filled))
    session.run(module, "executable-configurations")
    codes = [f.code for d in dispatches(module.op) if (f := first_configured(d))]
    session.run(module, "end")
    session.write(module, tmp_path / "out.vmfb")
    got = (
        iree.runtime.load_vm_flatbuffer_file(str(tmp_path / "out.vmfb"), driver="local-sync")
        .main(*given_)[2]
        .to_host()
    )
    assert (codes == ["FIS134"]) == wrong(got, total, "f32")
    assert bool(codes) == (not filled and width == 40) or width == 6  # one tile where vectors are long


@pytest.mark.parametrize("probe", ("auto", "never"))
def test_check_says_the_same(tmp_path, probe):
    source = tmp_path / "in.mlir"
    source.write_text(attention(1, 8, 200, 8, 8))
    report = fissile.check(source, ["llvm-cpu"], probe=probe)
    assert "FIS133" in [f.code for f in report.findings] and report.exit_code == 1

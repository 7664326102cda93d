"""The witness against llvm-cpu, on generated programs."""

from hypothesis import given, settings
from hypothesis import strategies as st
from iree.compiler import ir
from iree.compiler.api import Session

from fissile.passes.iree.runtime_flags import FLAGS_BY_BACKEND
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.verify import Options, verify
from fissile.pipelines.numerics.witness.program import Program

OPS = ("addf", "subf", "mulf", "maximumf", "minimumf")


@st.composite
def programs(draw) -> str:
    """A function of two tensors: elementwise ops, transposed reads, a sum or maximum over some dimensions, and a slice."""
    sizes = [draw(st.integers(1, 7)) for _ in range(3)]
    lines, order = [], draw(st.permutations(range(3)))
    shape = "x".join(str(sizes[i]) for i in order)
    kept = sorted(draw(st.sets(st.integers(0, 2), min_size=1)))
    out = "x".join(str(sizes[i]) for i in kept) + "xf32"
    maps = [", ".join(f"d{i}" for i in part) for part in (order, range(3), kept)]
    combine, first, second = (
        draw(st.sampled_from(("addf", "maximumf"))),
        *(draw(st.sampled_from(OPS)) for _ in range(2)),
    )
    kinds = ", ".join('"parallel"' if i in kept else '"reduction"' for i in range(3))
    lines += [
        f"  %c = arith.constant {draw(st.sampled_from(('0.0', '1.5', '-2.0')))} : f32",
        f"  %e = tensor.empty() : tensor<{out}>",
        f"  %o = linalg.fill ins(%c : f32) outs(%e : tensor<{out}>) -> tensor<{out}>",
        "  %r = linalg.generic {indexing_maps = ["
        + ", ".join(f"affine_map<(d0, d1, d2) -> ({m})>" for m in maps)
        + "],",
        f"      iterator_types = [{kinds}]}} ins(%x, %y : tensor<{shape}xf32>, tensor<{'x'.join(map(str, sizes))}xf32>)",
        f"      outs(%o : tensor<{out}>) {{",
        "  ^bb0(%a: f32, %b: f32, %s: f32):",
        f"    %p = arith.{first} %a, %b : f32",
        f"    %q = arith.{second} %p, %a : f32",
        f"    %t = arith.{combine} %s, %q : f32",
        f"    linalg.yield %t : f32\n  }} -> tensor<{out}>",
        f"  return %r : tensor<{out}>",
    ]
    arguments = f"%x: tensor<{shape}xf32>, %y: tensor<{'x'.join(map(str, sizes))}xf32>"
    return f"func.func @NAME({arguments}) -> tensor<{out}> {{\n" + "\n".join(lines) + "\n}\n"


@settings(max_examples=2, deadline=None)
@given(st.lists(programs(), min_size=6, max_size=6))
def test_generated_programs_agree_with_llvm_cpu(tmp_path_factory, texts):
    source = tmp_path_factory.mktemp("generated") / "many.mlir"
    source.write_text("".join(text.replace("@NAME", f"@f{i}") for i, text in enumerate(texts)))
    vmfb = source.with_suffix(".vmfb")
    assert compile_stock(source, vmfb, FLAGS_BY_BACKEND["llvm-cpu"]) is None
    session = Session()
    with session.context:
        program = Program(ir.Module.parse(source.read_text()).operation)
    for i in range(len(texts)):
        found = verify(
            vmfb,
            reference=lambda *a, i=i: program.run(f"f{i}", a).results[0],
            options=Options(function=f"f{i}", on=("local-task",)),
        )
        assert found.agrees, (texts[i], found.sentence)

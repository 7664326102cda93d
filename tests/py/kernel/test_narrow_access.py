"""What FIS110 says of stock IREE on a target without narrow storage, against what stock's module computes on lavapipe."""

import subprocess

import numpy as np
import pytest

from fissile.effect import Effect
from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.passes.failures.narrow.narrow_storage import NarrowStorage
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.native_programs import stock_compiler
from fissile.pipelines.numerics.runtimes import present, run_module_program
from fissile.pipelines.probe.stock_outcome import narrow_elements
from fissile.pipelines.session import Session
from fissile.target import find_target

RIGHT, MAY, WRONG = None, Effect.UNPROVED, Effect.WRONG
I8, I16, I32, F16, F32 = np.int8, np.int16, np.int32, np.float16, np.float32

CASES = {
    # Elements: a name, what is read and written, the body, the same in NumPy, and the verdict on stock's code.
    20: ("whole words", "i8", "i32", "%r = arith.extsi %x : i8 to i32", lambda x: x.astype(I32), RIGHT),
    21: ("a last word", "i8", "i32", "%r = arith.extsi %x : i8 to i32", lambda x: x.astype(I32), WRONG),
    24: ("words written", "i32", "i8", "%r = arith.trunci %x : i32 to i8", lambda x: x.astype(I8), RIGHT),
    26: (
        "a last word written, more is bound",
        "i32",
        "i8",
        "%r = arith.trunci %x : i32 to i8",
        lambda x: x.astype(I8),
        RIGHT,
    ),
    28: (
        "to float",
        "i8",
        "f32",
        "%r = arith.uitofp %x : i8 to f32",
        lambda x: x.view(np.uint8).astype(F32),
        RIGHT,
    ),
    2560: (
        "vectors",
        "i8",
        "f32",
        "%y = arith.sitofp %x : i8 to f32\n%c = arith.constant 0.5 : f32\n%r = arith.mulf %y, %c : f32",
        lambda x: x * F32(0.5),
        WRONG,
    ),
    32: (
        "signed",
        "i8",
        "i8",
        "%c = arith.constant -3 : i8\n%r = arith.maxsi %x, %c : i8",
        lambda x: np.maximum(x, I8(-3)),
        RIGHT,
    ),
    36: (
        "upper bits",
        "i8",
        "i32",
        "%c = arith.constant 2 : i8\n%s = arith.shrui %x, %c : i8\n%r = arith.extui %s : i8 to i32",
        lambda x: (x.view(np.uint8) >> 2).astype(I32),
        MAY,
    ),
    40: (
        "upper bits of a sum",
        "i8",
        "i32",
        "%c = arith.constant 100 : i8\n%s = arith.addi %x, %c : i8\n%z = arith.cmpi slt, %s, %c : i8\n%r = arith.extui %z : i1 to i32",
        lambda x: ((x + I8(100)).astype(I8) < 100).astype(I32),
        MAY,
    ),
    44: ("16 bits", "i16", "i32", "%r = arith.extsi %x : i16 to i32", lambda x: x.astype(I32), RIGHT),
    45: (
        "16 bits, a last word",
        "i16",
        "i32",
        "%r = arith.extsi %x : i16 to i32",
        lambda x: x.astype(I32),
        WRONG,
    ),
    48: ("halves", "f16", "f32", "%r = arith.extf %x : f16 to f32", lambda x: x.astype(F32), WRONG),
}
NUMPY = {"i8": I8, "i16": I16, "i32": I32, "f16": F16, "f32": F32}


def program() -> str:
    """One function with an argument and a result for each case; the shapes keep IREE from fusing any two."""

    def op(n: int) -> str:
        _name, read, written, body, *_ = CASES[n]
        return (
            f"%e{n} = tensor.empty() : tensor<{n}x{written}>\n"
            f'%o{n} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}} ins(%a{n} : tensor<{n}x{read}>) '
            f"outs(%e{n} : tensor<{n}x{written}>) {{\n^bb0(%x: {read}, %out: {written}):\n{body}\nlinalg.yield %r : {written}\n}} "
            f"-> tensor<{n}x{written}>"
        )

    arguments = ", ".join(f"%a{n}: tensor<{n}x{CASES[n][1]}>" for n in CASES)
    types = ", ".join(f"tensor<{n}x{CASES[n][2]}>" for n in CASES)
    body = "\n".join(op(n) for n in CASES)
    return (
        f"#id = affine_map<(d0) -> (d0)>\nfunc.func @f({arguments}) -> ({types}) {{\n{body}\n"
        f"return {', '.join(f'%o{n}' for n in CASES)} : {types}\n}}\n"
    )


def claims() -> dict[int, Effect | None]:
    session = Session(flags_for(find_target("vulkan")))
    module = session.run(session.parse_text(program(), "in.mlir"), "executable-configurations")
    claimed = {}
    for dispatch in dispatches(module.op):
        [n] = [n for n in CASES if f"elementwise_{n}_" in dispatch.name]
        storage = NarrowStorage()
        found = storage.explain_all(narrow_elements(storage, [dispatch]))
        claimed[n] = found[0].effect if found else None
    return claimed


def test_each_effect_of_narrow_storage_is_told_apart():
    assert claims() == {n: case[-1] for n, case in CASES.items()}


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
def test_the_verdict_on_stock_is_what_stock_computes(tmp_path):
    source, vmfb = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(program())
    subprocess.run(
        [stock_compiler(), source, "-o", vmfb, *flags_for(find_target("vulkan"))], check=True, timeout=300
    )
    generator, command = (
        np.random.default_rng(0),
        [run_module_program(), "--device=vulkan", f"--module={vmfb}", "--function=f"],
    )
    inputs = {}
    for n, (_name, read, *_) in CASES.items():
        inputs[n] = generator.integers(-128, 128, n).astype(NUMPY[read])
        inputs[n][-1] = -77  # the tail that is lost is not 0 by chance
        np.save(tmp_path / f"{n}.npy", inputs[n])
    command += [f"--input=@{tmp_path / f'{n}.npy'}" for n in CASES] + [
        f"--output=@{tmp_path / f'out{n}.npy'}" for n in CASES
    ]
    subprocess.run(command, check=True, timeout=300)
    for n, (name, _read, _written, _body, expected, claim) in CASES.items():
        is_right = np.array_equal(np.load(tmp_path / f"out{n}.npy"), expected(inputs[n]))
        assert claim is MAY or is_right == (claim is RIGHT), name

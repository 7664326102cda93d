"""Programs on which stock IREE or an earlier fissile failed, one a file in tests/programs/reported: what is reported, and what each call gives.

Constants of the exported models are replaced by splats.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from programs import run_program

import fissile
from bench.programs.text.spelling import spelled
from fissile.finding import Severity
from fissile.pipelines.check.measuring import measure
from fissile.pipelines.numerics.runtimes import present, run_module_program
from fissile.target import find_target

REPORTED = Path(__file__).resolve().parents[2] / "programs" / "reported"
CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
TARGETS = {
    "llvm-cpu": CPU,
    "vulkan": ("--iree-hal-target-device=vulkan",),
    "gfx942": ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"),
}
RUNTIMES = {"llvm-cpu": "local-sync", "vulkan": "vulkan"}
REFUSED = "FAILED_PRECONDITION"
TEN = "10xf32=0 1 2 3 4 5 6 7 8 9"


@dataclass(frozen=True)
class Case:
    """``repaired`` are the codes of what is repaired; ``checked``: whether a size or index is checked at run time. ``calls`` are
    inputs and what the answer contains."""

    file: str
    target: str
    repaired: tuple[str, ...] = ()
    checked: bool = False
    calls: tuple[tuple[tuple[str, ...], str], ...] = ()


def case(file: str, target: str, *repaired: str, checked: bool = False, **calls: object) -> Case:
    return Case(file, target, repaired, checked, tuple(calls.get("calls", ())))


CASES = (
    case("e2e/attention-i1-mask-gfx942", "gfx942", "FIS108"),
    case("e2e/attention-i1-mask-vulkan-nan", "vulkan", "FIS110", calls=[((), "1x4x4xf32=[[1 1 1 1]")]),
    case("e2e/complex-constant-typeerror", "llvm-cpu"),
    case("e2e/dynamic-attention-gfx942-sigfpe", "gfx942", "FIS107", checked=True),
    case(
        "e2e/fft-constant-index-doubted",
        "llvm-cpu",
        calls=[(("8xf32=1 1 1 1 1 1 1 1",), "5xf32=8 0 0 0 0")],
    ),
    case("e2e/gather-mask-false-assert", "llvm-cpu", calls=[((), "2x2xi32=[2 3][97 96]")]),
    case(
        "e2e/gather-mask-vulkan-wrong-told",
        "vulkan",
        "FIS110",
        checked=True,
        calls=[
            (("2x2xi32=0 1 2 3", "2x1xi32=1 7", "2xi1=@10", "2x2xi32=99 98 97 96"), "2x2xi32=[2 3][97 96]"),
            (("2x2xi32=0 1 2 3", "2x1xi32=1 7", "2xi1=@11", "2x2xi32=99 98 97 96"), REFUSED),
        ],
    ),
    case("e2e/i2-load-vulkan-untold", "vulkan", "FIS110", calls=[((), "8xf32=0 1 2 3 3 2 1 0")]),
    case("e2e/online-attention-matched-zip", "vulkan", "FIS108"),
    case("e2e/online-attention-vulkan", "vulkan", "FIS108"),
    case(
        "e2e/pack-dynamic-indexerror",
        "llvm-cpu",
        checked=True,
        calls=[(("8x8xi32=3", "4", "4"), "4x4x2x2xi32=[[[3 3][3 3]]")],
    ),
    case("e2e/packed-i1-vulkan-exit3", "vulkan", "FIS110", calls=[(("8xi8=1 0 1 0 0 0 0 1",), "1xi8=-123")]),
    case("e2e/packed-i1-vulkan-untold", "vulkan", "FIS110", calls=[(("1xi8=5",), "1xi8=-6")]),
    case("e2e/scaling-extf-vulkan", "vulkan", "FIS110"),
    case("e2e/scatter-mask-false-assert", "llvm-cpu", calls=[((), "4xi32=10 1 30 40")]),
    case(
        "e2e/scatter-mask-vulkan",
        "vulkan",
        "FIS110",
        checked=True,
        calls=[(("4xi32=10 20 30 40", "2xi32=1 2", "2x1xi32=1 3", "2xi1=@10"), "4xi32=10 1 30 40")],
    ),
    case("e2e/scatter-masked-out-index-false-assert", "llvm-cpu", calls=[((), "4xi32=3 1 30 40")]),
    case("e2e/two-results-two-ranks-vulkan-healthy", "vulkan"),
    case("e2e/two-results-two-ranks-vulkan", "vulkan", "FIS101"),
    case(
        "storage/branch_always_fails",
        "llvm-cpu",
        checked=True,
        calls=[((TEN, "0"), "2xf32=0 1"), ((TEN, "1"), REFUSED)],
    ),
    case(
        "storage/flow_load_silent",
        "llvm-cpu",
        checked=True,
        calls=[((TEN, "3"), "f32=6"), ((TEN, "10"), REFUSED)],
    ),
    case(
        "storage/flow_reshape_operand_dims",
        "llvm-cpu",
        checked=True,
        calls=[
            (("4xf32=1 2 3 4", "4", "4"), "4xf32=1 2 3 4"),
            (("4xf32=1 2 3 4", "5", "5"), REFUSED),
            (("4xf32=1 2 3 4", "4", "5"), REFUSED),
        ],
    ),
    case(
        "storage/forbody",
        "llvm-cpu",
        checked=True,
        calls=[(("5xf32=1", "5"), "4xf32=5 5 5 5"), (("5xf32=1", "6"), REFUSED)],
    ),
    case(
        "storage/gather_dynamic_indices",
        "llvm-cpu",
        checked=True,
        calls=[
            (("5x4xf32=1", "2xi32=0 4", "2"), "2x4xf32=[1 1 1 1][1 1 1 1]"),
            (("5x4xf32=1", "2xi32=0 5", "2"), REFUSED),
            (("5x4xf32=1", "2xi32=-1 4", "2"), REFUSED),
        ],
    ),
    case(
        "storage/halexport",
        "llvm-cpu",
        checked=True,
        calls=[(("4xf32=1 2 3 4", "4"), "4xf32=1 2 3 4"), (("4xf32=1 2 3 4", "5"), REFUSED)],
    ),
    case(
        "storage/ifbody",
        "llvm-cpu",
        checked=True,
        calls=[
            (("5xf32=1 2 3 4 5", "4xi32=0 1 2 4", "1"), "4xf32=1 2 3 5"),
            (("5xf32=1 2 3 4 5", "4xi32=0 1 2 5", "1"), REFUSED),
            (("5xf32=1 2 3 4 5", "4xi32=0 1 2 5", "0"), "4xf32=0 0 0 0"),
        ],
    ),
    case(
        "storage/loop_always_fails",
        "llvm-cpu",
        "FIS197",
        checked=True,
        calls=[((TEN, "0"), "f32=0"), ((TEN, "1"), REFUSED)],
    ),
    case(
        "storage/scatter_dynamic_indices",
        "llvm-cpu",
        checked=True,
        calls=[
            (("2x4xf32=1", "2x1xi32=0 2", "3x4xf32=0"), "3x4xf32=[1 1 1 1][0 0 0 0][1 1 1 1]"),
            (("2x4xf32=1", "2x1xi32=0 3", "3x4xf32=0"), REFUSED),
        ],
    ),
    case(
        "storage/selecttensor",
        "llvm-cpu",
        checked=True,
        calls=[
            (("1", "3xf32=1 2 3", "5xf32=1 2 3 4 5"), "3xf32=1 2 3"),
            (("0", "3xf32=1 2 3", "5xf32=1 2 3 4 5"), REFUSED),
        ],
    ),
    case(
        "storage/stock_growing_loop",
        "llvm-cpu",
        "FIS137",
        checked=True,
        calls=[(("0", "1", "16xf32=1", "3xf32=1 2 3", "1xf32=0"), "3xf32=1 2 3")],
    ),
    case(
        "storage/stock_insert_alias",
        "llvm-cpu",
        "FIS142",
        checked=True,
        calls=[
            (("0", "0x2xi64", "8xi64=1 2 3 4 5 6 7 8", "2xi64=0 0"), "8xi64=1 2 3 4 5 6 7 8"),
            (("0", "0x2xi64", "8xi64=1 2 3 4 5 6 7 8", "2xi64=0 0"), "8xi64=1 2 5 4 5 6 7 8"),
        ],
    ),
    case(
        "storage/stock_insert_rank2",
        "llvm-cpu",
        "FIS141",
        checked=True,
        calls=[
            (("4x3xf32=0", "1", "0"), "4x3xf32=[0 0 0][5 0 0][0 0 0][0 0 0]"),
            (("4x3xf32=0", "4", "0"), REFUSED),
        ],
    ),
    case(
        "storage/unproved_divui",
        "llvm-cpu",
        calls=[(("0", "0", "8", "2xf16=1 2", "1x1xf16=0", "10xf16=0"), "3xf16=7 1 2")],
    ),
    case(
        "storage/vulkan_i64_index",
        "vulkan",
        checked=True,
        calls=[
            (("2x2xf32=1 2 3 4", "2xi64=0 1", "2xi64=1 0"), "2xf32=2 3"),
            (("2x2xf32=1 2 3 4", "2xi64=0 4294967296", "2xi64=1 0"), REFUSED),
        ],
    ),
    case("storage/while_bound_not_proved", "llvm-cpu", calls=[(("10xf32=1", "3"), "f32=10")]),
    case(
        "storage/write_before_assert",
        "llvm-cpu",
        checked=True,
        calls=[(("2", "4xf32=1"), REFUSED)],
    ),
    case(
        "storage/write_before_assert_data",
        "llvm-cpu",
        checked=True,
        calls=[
            (("8", "4xf32=1 2 3 4", "1xi64=2"), "8xf32=0 0 2 4 6 8 0 0"),
            (("8", "4xf32=1 2 3 4", "1xi64=400000000"), REFUSED),
        ],
    ),
    case(
        "storage/zero2d",
        "llvm-cpu",
        checked=True,
        calls=[
            (("2x3xf32=1 2 3 4 5 6", "0", "9"), "0x9xf32="),
            (("2x3xf32=1 2 3 4 5 6", "1", "4"), REFUSED),
        ],
    ),
    case("torch/fis110_untrue_qconv_dynb", "vulkan", "FIS110"),
    case("torch/index_put_negative", "llvm-cpu", checked=True),
    case(
        "torch/iota_index",
        "llvm-cpu",
        calls=[(("4x4xf32=1 2 3 4 1 2 3 4 1 2 3 4 1 2 3 4",), "[1 1 2 2 3 3 4 4]")],
    ),
    case("torch/sdpa_headdim256_silent_wrong", "llvm-cpu", "FIS133"),
    case("torch/topk_vulkan", "vulkan", "FIS125"),
)
LEGALITY = (
    "torch/and_i1_literal",
    "torch/cross_entropy_import",
    "torch/diff_operator",
    "torch/hf_bert_as_exported",
)
"""Ops that stock has no lowering for."""
OTHERS = ("torch/check_says_fits_qconv_resblock",)


def test_every_reported_program_has_a_test():
    files = {str(path.relative_to(REPORTED).with_suffix("")) for path in REPORTED.rglob("*.mlir")}
    assert files == {c.file for c in CASES} | {*LEGALITY, *OTHERS}


@pytest.mark.parametrize("one", CASES, ids=[c.file for c in CASES])
def test_a_reported_program(tmp_path, one):
    source, output = tmp_path / Path(f"{one.file}.mlir").name, tmp_path / "out.vmfb"
    source.write_text(spelled((REPORTED / f"{one.file}.mlir").read_text()))
    report = fissile.compile(source, output, TARGETS[one.target], check=False)
    found = report.findings
    assert not [f for f in found if f.severity in (Severity.ERROR, Severity.WARNING)]
    assert {f.code for f in found if f.severity is Severity.REPAIRED} == set(one.repaired)
    assert all(f.stock_line() for f in found if f.severity is Severity.REPAIRED)
    assert any(f.code == "FIS202" for f in found) == one.checked
    runtime = RUNTIMES.get(one.target)
    if runtime == "vulkan" and "vulkan" not in [r.name for r in present()]:
        pytest.skip("no Vulkan device")
    [function] = {line for line in _functions(REPORTED / f"{one.file}.mlir")}
    for inputs, answer in one.calls:
        words = [
            run_module_program(),
            f"--device={runtime}",
            f"--module={output}",
            f"--function={function}",
            *(f"--input={_input(word, tmp_path)}" for word in inputs),
        ]
        ended = run_program(words, capture_output=True, text=True, timeout=300)
        assert answer in ended.stdout + ended.stderr, (inputs, ended.stdout, ended.stderr)


def _input(word: str, folder: Path) -> str:
    """``word`` as iree-run-module takes it: it reads booleans from a file only, written `2xi1=@10` here."""
    kind, _, digits = word.partition("=@")
    if not digits:
        return word
    file = folder / f"{digits}.bin"
    file.write_bytes(bytes(map(int, digits)))
    return f"{kind}=@{file}"


def _functions(source: Path) -> list[str]:
    """The names of the functions that ``source`` defines."""
    heads = [
        line for line in source.read_text().splitlines() if "func public @" in line or "func.func @" in line
    ]
    return [line.partition("@")[2].partition("(")[0] for line in heads]


@pytest.mark.parametrize("file", LEGALITY)
def test_what_stock_has_no_lowering_for_is_refused_with_the_op_or_built(tmp_path, file):
    output = tmp_path / "out.vmfb"
    found = fissile.compile(REPORTED / f"{file}.mlir", output, CPU, check=False).findings
    errors = [f for f in found if f.severity is Severity.ERROR]
    assert output.exists() == (not errors)
    assert all("torch." in f.message + f.detail and f.places for f in errors)


def test_check_says_of_no_dispatch_that_it_fits_where_stock_refuses_it():
    """What is predicted of each dispatch is what code generation allocates."""
    file = REPORTED / "torch/check_says_fits_qconv_resblock.mlir"
    measured = measure(file, find_target("gfx942"))
    predicted = [(one.prediction.total.value, one.prediction.doubts) for one in measured]
    assert predicted == [(one.exact.value, ()) for one in measured]
    found = fissile.check(file, ["gfx942"]).findings
    assert any(
        f.code == "FIS101" and f.severity is Severity.ERROR and "77824 bytes" in f.message for f in found
    )

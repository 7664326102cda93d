"""Several things that IREE takes in no form, in one program: one audit finds all of them, and nothing in the functions that IREE compiles."""

from __future__ import annotations

import pytest

from bench.legality_sweep import planted
from fissile.finding import Finding, Place
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.audit.audit_worker import run_audit
from fissile.pipelines.targets import resolve_target
from fissile.report import Report

TWO = ("unknown dialect", "healthy product")


def finding_at(*lines):
    return Finding("FIS409", "it has no code", places=tuple(Place("x.mlir", line, 1) for line in lines))


@pytest.mark.parametrize(
    ("findings", "missed", "false"),
    [
        ((), ("unknown dialect",), 0),
        ((finding_at(2),), (), 0),
        ((finding_at(2, 3),), (), 0),
        ((finding_at(6),), ("unknown dialect",), 1),
        ((finding_at(2, 6),), (), 1),
        ((finding_at(2), finding_at()), (), 1),
    ],
)
def test_a_piece_is_found_by_a_finding_in_its_lines_and_a_finding_elsewhere_is_false(findings, missed, false):
    verdict = planted.judged(Report("audit", findings), TWO, ("unknown dialect",))
    assert (verdict.missed, len(verdict.false)) == (missed, false)


def test_every_piece_is_in_several_programs_of_four_to_six():
    programs = planted.programs()
    assert len({frozenset(pieces) for pieces in programs}) > 20 and all(
        4 <= len(pieces) <= 6 for pieces in programs
    )
    for piece in planted.PIECES:
        assert sum(piece in pieces for pieces in programs) > 1


@pytest.mark.parametrize(
    ("target", "pieces", "taken"),
    [
        # Types of PyTorch's make IREE's import refuse the memory before it comes to the integers.
        (
            "vulkan",
            (
                "PyTorch operator",
                "StableHLO with an open size",
                "wide integer in a body",
                "memory on the host",
            ),
            (),
        ),
        (
            "llvm-cpu",
            (
                "unknown dialect",
                "ONNX operator",
                "optional argument",
                "no rank",
                "lanes of a GPU in a body",
                "argument of f4",
                "complex number as argument",
                "wide integer in a body",
            ),
            ("wide integer in a body",),
        ),
    ],
)
def test_all_that_is_planted_is_found_in_one_run(tmp_path, target, pieces, taken):
    pieces = (*planted.HEALTHY, *pieces)
    text, _spans = planted.text_of(pieces)
    file = tmp_path / "planted.mlir"
    file.write_text(text)
    report = run_audit(str(file), [(target, flags_for(resolve_target(target)))])
    refused = [piece for piece in pieces if piece in planted.PIECES and piece not in taken]
    verdict = planted.judged(report, pieces, refused)
    assert not verdict.missed and not verdict.false

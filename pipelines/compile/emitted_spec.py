"""Findings for --emit-tuning-spec where there is no spec to write, or it does not carry every repair."""

from __future__ import annotations

from collections.abc import Mapping

from fissile.finding import Finding, Severity

CODE = "FIS122"


def nothing_to_write(path: str) -> Finding:
    """The finding where the program compiles as it is."""
    return Finding(
        CODE,
        "no tuning spec is needed: no dispatch had to be repaired",
        Severity.NOTE,
        notes=(f"{path} was not written",),
    )


def not_carried(path: str, repaired: int, why_not: Mapping[str, str]) -> Finding | None:
    """The finding for repairs that are no configurations; None where the spec has them all.

    ``repaired`` dispatches are in the spec, ``why_not`` says of each other one why it is not.
    """
    reasons = tuple(f"{dispatch}: {why}" for dispatch, why in sorted(why_not.items()))
    if not repaired:
        return Finding(
            CODE,
            "no tuning spec was written: no repair of this program is a lowering configuration",
            Severity.NOTE,
            notes=(*reasons, "--emit-mlir=FILE has what was done"),
        )
    if not why_not:
        return None
    rest = f"{len(why_not)} other dispatch{'es' if len(why_not) > 1 else ''}"
    return Finding(
        CODE,
        f"the tuning spec repairs {repaired} of {repaired + len(why_not)} dispatches",
        Severity.NOTE,
        notes=(
            *reasons,
            f"--emit-mlir=FILE repairs the {rest}: stock IREE takes that file together with {path}",
        ),
    )


def tuned_spec(path: str, written: bool, edited: bool) -> Finding | None:
    """The finding for --tune: no tiles were taken, or repairs are in the program (``edited``) and not in the spec at ``path``."""
    if not written:
        return Finding(
            CODE,
            "no tuning spec was written: no tiles ran faster than IREE's own",
            Severity.NOTE,
            notes=("--emit-mlir=FILE has what was done",) if edited else (),
        )
    if not edited:
        return None
    return Finding(
        CODE,
        "the tuning spec has tiles alone; the fusion boundaries are in the program",
        Severity.NOTE,
        notes=(
            f"--emit-mlir=FILE writes the program with both; {path} matches its dispatches, not those of the input",
        ),
    )

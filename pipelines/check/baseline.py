"""A baseline of bytes per dispatch: what a model needed when someone last looked, for CI to compare with."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fissile import wire
from fissile.errors import UsageError
from fissile.finding import Finding, Severity

from ..process.atomic_write import write_atomically

FORMAT = 1
Counts = dict[str, dict[str, list[int]]]
"""Target -> dispatch key -> bytes, largest first."""


@dataclass(frozen=True)
class Baseline:
    """The file. ``model`` says which programs it belongs to, ``functions`` what they are for who reads it."""

    fissile_baseline: int
    model: str
    bytes: Counts
    functions: tuple[str, ...] = ()


_NUMBER = re.compile(r"_dispatch_\d+")


def identity(signatures: Sequence[str]) -> str:
    """What makes two files the same model: the names and types of its public functions."""
    return hashlib.sha256("\n".join(sorted(signatures)).encode()).hexdigest()[:16]


def key_of(dispatch: str) -> str:
    """A dispatch's name without its number, which changes when an op is added before it."""
    return _NUMBER.sub("_dispatch", dispatch, count=1)


def collect(targets: Iterable[dict]) -> Counts:
    """From the report's facts. Unknown sizes are left out."""
    result: dict[str, dict[str, list[int]]] = {}
    for target in targets:
        rows = result.setdefault(target["name"], {})
        for dispatch in target["dispatches"]:
            if dispatch["bytes"] is not None:
                rows.setdefault(key_of(dispatch["name"]), []).append(dispatch["bytes"])
        for counts in rows.values():
            counts.sort(reverse=True)
    return result


def write(path: Path, signatures: Sequence[str], targets: Iterable[dict]) -> None:
    """Writes the baseline whole or not at all. Raises UsageError where the path cannot be written.

    Targets of an existing baseline of the same model that are not checked now are kept.
    """
    counts = collect(targets)
    if path.is_file():
        counts = read(path, signatures) | counts
    rows = {name: dict(sorted(rows.items())) for name, rows in sorted(counts.items())}
    text = wire.encode(Baseline(FORMAT, identity(signatures), rows, tuple(sorted(signatures))), indent=1)
    try:
        write_atomically(path, lambda partial: partial.write_bytes(text + b"\n"))
    except OSError as error:
        raise UsageError(f"cannot write the baseline {path}: {error.strerror}") from None


def read(path: Path, signatures: Sequence[str]) -> Counts:
    """The bytes of a baseline. Raises UsageError for a file that is none, or that belongs to another
    model."""
    if path.exists() and not path.is_file():
        raise UsageError(
            f"cannot read the baseline {path}: not a regular file", "--update-baseline writes one"
        )
    try:
        baseline = wire.decode(Baseline, path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"cannot read the baseline {path}: {error.strerror}", "--update-baseline writes one"
        ) from None
    except wire.WrongType:
        baseline = None
    except (wire.WireError, RecursionError):
        raise UsageError(
            f"{path} is not a baseline: it is not JSON", "--update-baseline writes one"
        ) from None
    if baseline is None or baseline.fissile_baseline != FORMAT:
        raise UsageError(
            f"{path} is not a baseline of this version of fissile", "--update-baseline writes one"
        )
    if baseline.model != identity(signatures):
        theirs = ", ".join(baseline.functions) or "unknown"
        raise UsageError(
            f"{path} is the baseline of another model: it has {_short(theirs)}, "
            f"this one {_short(', '.join(signatures))}",
            "name its own baseline, or remove the file and write a new one with --update-baseline",
        )
    return baseline.bytes


def compare(before: Counts, targets: Iterable[dict], path: Path) -> list[Finding]:
    """FIS150 for each dispatch that grew, FIS151 where the baseline has nothing to compare with."""
    found = []
    for name, now in collect(targets).items():
        if name not in before:
            found.append(
                Finding(
                    "FIS151",
                    f"the baseline has no bytes for target {name}",
                    Severity.NOTE,
                    name,
                    name,
                    notes=(f"--update-baseline adds it to {path}",),
                )
            )
            continue
        fresh = []
        for key, counts in now.items():
            old = before[name].get(key)
            if old is None:
                fresh.append(key)
                continue
            for position, count in enumerate(counts):
                was = old[position] if position < len(old) else 0
                if count > was:
                    found.append(_grown(name, key, was, count))
        if fresh:
            shown = ", ".join(fresh[:3]) + (" …" if len(fresh) > 3 else "")
            message = (
                f"{len(fresh)} dispatch{'es are' if len(fresh) > 1 else ' is'} not in the baseline: {shown}"
            )
            found.append(
                Finding("FIS151", message, Severity.NOTE, name, name, notes=("--update-baseline adds them",))
            )
    return found


def _grown(target: str, key: str, was: int, now: int) -> Finding:
    message = f"dispatch grew from {was} to {now} bytes on {target} since the baseline"
    return Finding(
        "FIS150",
        message,
        Severity.ERROR,
        key,
        target,
        notes=(f"dispatch {key}", "--update-baseline accepts it"),
    )


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"

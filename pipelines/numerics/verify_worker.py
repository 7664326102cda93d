"""`verify` in a process of its own: `python -m fissile.pipelines.numerics.verify_worker`, run as a `Server`.

The caller sends {"first", "second", "inputs", "expected", "options", "folder", "reference"} and gets {"certificate"} or {"error"}. Where the
caller has a reference function, the answer may be {"call": arrays} first: the caller answers {"results": arrays}. Arrays are files in
the folder, by name, element type and shape.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  # its element types by name
import numpy as np

from fissile import wire
from fissile.errors import ExitCode, FissileError, InternalError, UsageError
from fissile.finding import Finding
from fissile.passes.failures.failure import Ending, failure_that_ends

from ..process.entry import begin, error_in_words
from ..process.scratch import scratch
from ..process.server import Server
from .certificate import Certificate, Check
from .inputs import Sizes
from .verify import Options, checked_answer, verify

Reference = Callable[..., Any]


def run_verify(
    first: Path,
    second: Path | None,
    *,
    inputs: Sequence[np.ndarray] | None = None,
    expected: Sequence[np.ndarray] | None = None,
    reference: Reference | None = None,
    options: Options | None = None,
) -> Certificate:
    """`verify` in a child process: a crash of IREE's is a finding. ``reference`` runs in this one. Raises UsageError."""
    server = Server(__name__)
    try:
        with scratch() as folder:
            job: dict[str, Any] = {
                "first": str(first),
                "second": str(second) if second else None,
                "inputs": None if inputs is None else save(inputs, folder, "input"),
                "expected": None if expected is None else save(expected, folder, "expected"),
                "reference": reference is not None,
                "options": options_to(options or Options()),
                "folder": str(folder),
            }
            while True:
                answer = server.request(job, 0.0)
                if not isinstance(answer, dict):
                    return _crashed(first, second, str(answer))
                if "call" not in answer:
                    break
                job = _called(reference, load(answer["call"], folder), folder)
        if "error" in answer:
            raise _error(answer["error"])
        return wire.build(Certificate, answer["certificate"])
    finally:
        server.end()


def _called(reference: Reference | None, inputs: list[np.ndarray], folder: Path) -> dict[str, Any]:
    assert reference is not None
    try:
        results = reference(*inputs)
    except Exception as error:  # a user's function: any error is theirs to read
        raise UsageError(
            f"the reference function failed: {type(error).__name__}: {error}",
            "it is called with one array per argument and returns the expected outputs",
        ) from error
    return {"results": save(checked_answer(results), folder, "result")}


def _crashed(first: Path, second: Path | None, why: str) -> Certificate:
    subject = f"{second.name} against {first.name}" if second else first.name
    finding = Finding(
        failure_that_ends(Ending.CRASHED).code, f"the compiler crashed ({why})", subject=subject
    )
    return Certificate(subject, (Check(subject, "no runtime", None, "", finding=finding),))


def _error(error: dict[str, Any]) -> FissileError:
    if error["exit_code"] == ExitCode.USAGE:
        return UsageError(error["message"], error["hint"])
    return InternalError(error["message"], error["hint"], detail=error["traceback"])


def save(arrays: Sequence[np.ndarray], folder: Path, name: str) -> list[dict[str, Any]]:
    """Writes ``arrays`` into ``folder``; what `load` needs to read them."""
    saved = []
    for index, given in enumerate(map(np.asarray, arrays)):
        array = given.astype(
            given.dtype.newbyteorder("="), copy=False
        )  # the type's name says nothing of the order
        file = folder / f"{name}{index}.bin"
        file.write_bytes(np.ascontiguousarray(array).tobytes())
        saved.append({"file": file.name, "type": array.dtype.name, "shape": list(array.shape)})
    return saved


def load(saved: Sequence[dict[str, Any]], folder: Path) -> list[np.ndarray]:
    """The arrays that `save` wrote."""
    return [
        np.frombuffer((folder / one["file"]).read_bytes(), np.dtype(one["type"])).reshape(one["shape"]).copy()
        for one in saved
    ]


# --- the child


def main() -> int:
    begin()
    answers = os.fdopen(os.dup(1), "w")  # what IREE prints itself must not mix with answers
    os.dup2(2, 1)

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message, default=lambda number: number.item()) + "\n")
        answers.flush()

    job = json.loads(sys.stdin.readline())
    folder = Path(job["folder"])

    def reference(*inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        answer({"call": save(inputs, folder, "argument")})
        return tuple(load(json.loads(sys.stdin.readline())["results"], folder))

    try:
        certificate = verify(
            job["first"],
            job["second"],
            inputs=None if job["inputs"] is None else load(job["inputs"], folder),
            expected=None if job["expected"] is None else load(job["expected"], folder),
            reference=reference if job["reference"] else None,
            options=options_from(job["options"]),
        )
        answer({"certificate": wire.plain(certificate)})
    except BaseException as error:  # the caller raises it again
        answer({"error": wire.plain(error_in_words(error))})
    os._exit(0)


def options_to(options: Options) -> dict[str, Any]:
    """``options`` as JSON values, which have no pairs as keys."""
    simple = wire.plain(replace(options, sizes=Sizes(options.sizes.default), ranges={}))
    at = [[*place, size] for place, size in options.sizes.at.items()]
    return simple | {"at": at, "limits": [[argument, *limits] for argument, limits in options.ranges.items()]}


def options_from(data: dict[str, Any]) -> Options:
    """What `options_to` made."""
    sizes = Sizes(
        data["sizes"]["default"], {(argument, dimension): size for argument, dimension, size in data["at"]}
    )
    ranges = {argument: (low, high) for argument, low, high in data["limits"]}
    return replace(wire.build(Options, data), sizes=sizes, ranges=ranges)


if __name__ == "__main__":
    sys.exit(main())

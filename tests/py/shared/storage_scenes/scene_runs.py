"""Compiles drawn scenes with the command, calls them in processes of their own, and holds each call against the oracle."""

from __future__ import annotations

import base64
import json
import pickle
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from checked_schedule import programs_out_of_order
from scene_program import Call, Scene

from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.process.child import run_child
from fissile.pipelines.session import PhaseFailed, Session

FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
)
REFUSED = ("FAILED_PRECONDITION", "INVALID_ARGUMENT", "OUT_OF_RANGE", "RESOURCE_EXHAUSTED")
STATUS = re.compile(r"\b(?P<status>[A-Z]+(?:_[A-Z]+)*); (?P<check>@\S+: )?")
"""How an error of IREE's runtime begins, after its place; the message of a check of fissile's names the function first."""
UNCHECKED = ("FIS204", "FIS205", "FIS902", "FIS903")
TOLD_WRONG = ("FIS141", "FIS142", "FIS137")
"""What IREE's host code does wrong to tensors, where nothing repairs it."""
EMPTY_COPY = "length=0"
"""In a message of IREE's runtime: it refuses an empty range that begins behind the end of its buffer."""
DIVIDED_BY_ZERO = "SIGFPE"
SECONDS = 900
BIN = Path(sys.executable).parent


@dataclass
class Failure:
    kind: str
    scene: Scene
    call: Call | None
    message: str

    def __str__(self) -> str:
        values = [] if self.call is None else [np.asarray(v).tolist() for v in self.call.values]
        return f"-- {self.kind}: {self.scene.name}\n{values}\n{self.message}\n{self.scene.text}\n"


@dataclass
class Runs:
    """``counts`` says what was seen, ``failures`` where fissile and the oracle disagree, ``idle`` the programs with a check
    that no drawn call breaks: for a person to look at."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    idle: list[tuple[Scene, list[str]]] = field(default_factory=list)
    flags: tuple[str, ...] = FLAGS

    def check(self, scenes: list[Scene]) -> None:
        with (
            tempfile.TemporaryDirectory(prefix="fissile-scenes-") as folder,
            Session(list(self.flags)) as session,
        ):
            left = [scene for scene in scenes if self._is_to_run(session, scene)]
            self._check(self._scheduled_by_stock(left, Path(folder)), Path(folder))

    def _scheduled_by_stock(self, scenes: list[Scene], folder: Path) -> list[Scene]:
        """Those that stock does not refuse before there is code: some are found out when constants are propagated."""
        source = folder / "stock.mlir"
        while scenes:
            source.write_text("\n".join(s.text for s in scenes) + "\n")
            command = [
                BIN / "iree-compile",
                source,
                *self.flags,
                "--compile-to=stream",
                "-o",
                folder / "stock.stream",
            ]
            ended = run_child(command, SECONDS)
            place = re.search(r"stock\.mlir:(\d+):\d+: error", ended.err)
            if ended.status == 0 or (place is None and len(scenes) > 1):
                break
            self.counts["programs that stock refuses"] += 1
            scenes = [s for s in scenes if place is not None and s is not _at_line(scenes, int(place[1]))]
        return scenes

    def _is_to_run(self, session: Session, scene: Scene) -> bool:
        """Whether the guard leaves ``scene`` to its calls; what it says of it is held against them at once."""
        try:
            module = session.run(session.parse_text(scene.text), GUARDED_AT)
        except PhaseFailed:
            self.counts["programs that stock refuses"] += 1
            return False
        found: dict[str, list[str]] = {}
        for finding in guard(module.op, "check", bounded=module.marks.bounded).findings:
            found.setdefault(finding.code, []).append(finding.message)
        legal = [call for call in scene.calls if call.expected is not None]
        for code in UNCHECKED:
            if code in found:
                self._failed(code, scene, None, "\n".join(found[code]))
                return False
        if "FIS201" in found:
            self.counts["programs refuted"] += 1
            if legal:
                self._failed("refuted though legal", scene, legal[0], "\n".join(found["FIS201"]))
            return False
        if "FIS202" in found and legal and not scene.can_fail:
            self.counts["programs with a check that no drawn call breaks"] += 1
            self.idle.append((scene, found["FIS202"]))
        return True

    def _check(self, scenes: list[Scene], folder: Path) -> None:
        if not scenes:
            return
        status, findings, said = self._compiled(scenes, folder)
        unchecked = [f for f in findings if f["code"] in UNCHECKED]
        if (status or unchecked) and len(scenes) > 1:
            middle = len(scenes) // 2
            self._check(scenes[:middle], folder)
            self._check(scenes[middle:], folder)
            return
        for finding in unchecked:
            self._failed(finding["code"], scenes[0], None, finding["message"])
        if status and any(f["code"] in TOLD_WRONG for f in findings):
            self.counts["programs that stock builds wrong, and no output"] += 1
            return
        if status:
            if self._stock(scenes[0], folder) is None:
                self.counts["programs that stock refuses"] += 1
            else:
                self._failed("does not compile", scenes[0], None, said)
            return
        self.counts["programs run"] += len(scenes)
        self._look_at_schedule(scenes, folder)
        self._call(scenes, folder)

    def _look_at_schedule(self, scenes: list[Scene], folder: Path) -> None:
        status, _, said = self._compiled(scenes, folder, "--compile-to=stream")
        if status:
            self._failed("is not scheduled", scenes[0], None, said)
            return
        with Session(list(self.flags)) as session:
            module = session.parse_text((folder / "out.stream.mlir").read_text())
            late = programs_out_of_order(session, module.op, {s.name: s.text for s in scenes}, "s")
        for scene in scenes:
            if scene.name in late and len(scenes) > 1:
                # IREE merges equal dispatches of programs that are compiled together: which is whose is known of one alone.
                self._look_at_schedule([scene], folder)
            elif scene.name in late:
                self._failed("a dispatch before its check", scene, None, late[scene.name])
            else:
                self.counts["programs with no dispatch before its check"] += 1

    def _compiled(self, scenes: list[Scene], folder: Path, *more: str) -> tuple[int, list[dict], str]:
        source = folder / "scenes.mlir"
        source.write_text("\n".join(s.text for s in scenes))
        command = [
            BIN / "fissile",
            "compile",
            source,
            *self.flags,
            "--format=json",
            "--no-cache",
            *more,
            "-o",
            folder / ("out.stream.mlir" if more else "out.vmfb"),
        ]
        ended = run_child(command, SECONDS)
        if ended.reason:
            return 128, [], f"{ended.reason} {ended.err[-800:]}"
        try:
            return ended.status, json.loads(ended.out)["findings"], (ended.out + ended.err)[-1500:]
        except ValueError:
            return ended.status or 1, [], (ended.out + ended.err)[-1500:]

    def _stock(self, scene: Scene, folder: Path) -> Path | None:
        source, out = folder / "stock.mlir", folder / "stock.vmfb"
        source.write_text(scene.text)
        out.unlink(missing_ok=True)
        ended = run_child([BIN / "iree-compile", source, *self.flags, "-o", out], SECONDS)
        return out if ended.status == 0 and not ended.reason else None

    def _call(self, scenes: list[Scene], folder: Path) -> None:
        rows = [(scene, call) for scene in scenes for call in scene.calls]
        for (scene, call), answer in zip(rows, answers(folder / "out.vmfb", rows, folder), strict=True):
            self._judge(scene, call, answer, folder)

    def _judge(self, scene: Scene, call: Call, answer: dict, folder: Path) -> None:
        error = answer.get("error", "")
        if answer.get("written"):
            self._failed("an input was written", scene, call, error)
        if DIVIDED_BY_ZERO in answer.get("crash", "") and self._divides_by_zero(scene, call, folder):
            self.counts["calls that divide by zero, in stock as well"] += 1
        elif "crash" in answer:
            self._failed("crash", scene, call, answer["crash"])
        elif call.expected is None and not error:
            self._failed("missed", scene, call, f"got {_found(answer)}")
        elif call.expected is None:
            word = next((w for w in REFUSED if w in error), None)
            if word is None:
                self._failed("refused in another way", scene, call, error)
            self.counts[f"calls that violate, refused: {word}"] += 1
        elif error or not _same(_found(answer), call.expected):
            stock = self._stock(scene, folder)
            (again,) = (
                answers(stock, [(scene, call)], folder)
                if stock
                else ({"crash": "stock refuses the program"},)
            )
            refused = _refused_by_iree(error)
            if refused and refused == _refused_by_iree(again.get("error", "")):
                self.counts["calls that IREE's runtime refuses as well"] += 1
                return
            if refused and EMPTY_COPY in error:  # stock's buffers are padded, some by enough
                self.counts["calls that copy nothing from past a tensor's end"] += 1
                return
            theirs = "" if not again.get("found") or _same(_found(again), call.expected) else ", by stock too"
            kind = "false alarm" if error else f"wrong numbers{theirs}"
            self._failed(
                kind,
                scene,
                call,
                error or f"got {_found(answer)}\nnot {call.expected}\nstock {again.get('error')}",
            )
        else:
            self.counts["calls that are legal, same numbers"] += 1

    def _divides_by_zero(self, scene: Scene, call: Call, folder: Path) -> bool:
        """The oracle computes what is used; a program divides whether its quotient is used or not, and the process ends."""
        stock = self._stock(scene, folder)
        (again,) = answers(stock, [(scene, call)], folder) if stock else ({},)
        return DIVIDED_BY_ZERO in again.get("crash", "")

    def _failed(self, kind: str, scene: Scene, call: Call | None, message: str) -> None:
        self.counts[f"FAILED: {kind}"] += 1
        self.failures.append(Failure(kind, scene, call, message))


def _at_line(scenes: list[Scene], line: int) -> Scene:
    for scene in scenes:
        line -= scene.text.count("\n") + 1
        if line <= 0:
            return scene
    raise ValueError(line)


def answers(module: Path, rows: list[tuple[Scene, Call]], folder: Path) -> list[dict]:
    """What each call gives; after a crash the rest is called by another process."""
    calls = folder / "calls.pickle"
    calls.write_bytes(pickle.dumps([(scene.name, call.values) for scene, call in rows]))
    found: list[dict] = []
    child = ["env", "MALLOC_PERTURB_=165", sys.executable, Path(__file__).with_name("scene_calls.py")]
    while len(found) < len(rows):
        ended = run_child([*child, module, calls, str(len(found))], SECONDS)
        lines = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
        found += [line for line in lines if "end" in line]
        if len(found) < len(rows):
            if not ended.reason:
                raise RuntimeError(f"the process that calls ended with {ended.status}: {ended.err[-1500:]}")
            found.append({"crash": f"{ended.reason} {ended.err[-500:]}"})
    return found


def _refused_by_iree(error: str) -> str | None:
    """The status with which IREE's runtime refuses a call, by a message of its own; None where fissile's check does."""
    found = STATUS.search(error)
    return None if found is None or found["check"] else found["status"]


def _found(answer: dict) -> list[object]:
    return pickle.loads(base64.b64decode(answer["found"]))


def _same(found: list[object], expected: list[object]) -> bool:
    return len(found) == len(expected) and all(
        np.shape(a) == np.shape(b) and np.array_equal(a, b, equal_nan=np.asarray(b).dtype.kind == "f")
        for a, b in zip(found, expected, strict=True)
    )

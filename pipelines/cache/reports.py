"""Whole answers of `compile` and `check`: the report of a program that is repaired or refused, and the repaired module.

A program that stock IREE compiles as it is has no entry: it costs no more to compile it. What depends on a device or on how much time
there was is not kept, and nothing that fissile could not check.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fissile import wire
from fissile.errors import UsageError
from fissile.passes.failures.failure import codes_of
from fissile.report import Report

from ..compile.request import CompileRequest
from ..process import reaper
from .keys import content_of, files_in, key_of
from .store import file, has_answers, keep, keep_bytes, recall, recall_bytes

NOT_KEPT = (*codes_of(lambda one: one.may_vary), "FIS902", "FIS903")
"""What may be another answer the next time: a crash, which may be a lack of memory, and what fissile failed at."""
_SIDE_EFFECTS = (
    "match_device",
    "tune",
    "verify",
    "dump_phases_to",
    "remarks_filter",
    "emit_mlir",
    "emit_tuning_spec",
    "save_temps",
    "load_passes",
    "time_limit",
    "strict",
    "verbose",
)
"""Of a request: what writes other files, prints, or depends on this machine and this moment."""
_NO_PART = ("output", "argv", "format", "report_file", "page", "no_cache")
"""Of a request: what says where answers go."""
_OTHER_PROGRAMS = (
    "preprocess-executables",
    "print",
    "dump",
    "debug",
    "timing",
    "stat",
    "time-",
    "trace",
    "reproducer",
)
"""In flags that run programs, or make IREE write something beside its output."""


class KeptCompile:
    """The answer to ``request``, where there is one; ``program`` is what its input was imported as, ``output`` where the module goes."""

    def __init__(self, request: CompileRequest, program: Path | None, output: Path) -> None:
        self._output = output
        self._named = request.output
        self._source = str(program or request.input)
        self._request = request

    @cached_property
    def _key(self) -> str:
        """Empty where the answer is not kept."""
        request = self._request
        if request.no_cache or file() is None or self._source == "-" or request.task != "compile":
            return ""
        if any(getattr(request, name) for name in _SIDE_EFFECTS) or _runs_others(request.flags):
            return ""
        requested = {name: value for name, value in wire.plain(request).items() if name not in _NO_PART}
        if _is_temporary(request.input):
            requested["input"] = ""
        named = files_in((*request.flags, request.preprocessing, *(p for _at, p in request.pipelines_after)))
        content = content_of(self._source)
        return key_of("compile", content, requested, named) if content else ""

    def recall(self) -> Report | None:
        """The report that was kept, with its module in the output; None where there is none."""
        found = _recall(self._key, self._source) if has_answers() else None
        if found is None or not found.output:
            return found
        module = recall_bytes(f"{self._key} module")
        if module is None:
            return None
        self._output.write_bytes(module)
        return replace(found, output=self._named)

    def keep(self, report: Report) -> None:
        """Keeps ``report`` and the module in the output, where something was repaired or refused."""
        if not (report.repaired or report.errors) or not _is_final(report) or not self._key:
            return
        if report.output:
            keep_bytes(f"{self._key} module", self._output.read_bytes())
        _keep(self._key, self._source, report)


class KeptCheck:
    """The answer to a check of ``program``, which the user calls ``source``; ``options`` are `check`'s."""

    def __init__(
        self, program: str, source: str, targets: Sequence[str], options: dict[str, Any], no_cache: bool
    ) -> None:
        self._source = program
        self._key = ""
        flags = options.get("flags", ())
        devices = any(name.strip().lower().endswith(":device") for name in targets)
        if no_cache or file() is None or devices or options.get("baseline") or _runs_others(flags):
            return
        named = "" if _is_temporary(source) else source
        if content := content_of(program):
            self._key = key_of("check", content, named, list(targets), options, files_in(flags))

    def recall(self) -> Report | None:
        return _recall(self._key, self._source)

    def keep(self, report: Report) -> None:
        if self._key and _is_final(report):
            _keep(self._key, self._source, report)


_PLACEHOLDER = "\x02input\x03"
"""Stands for the path of a program in memory, which has another one each time."""


def _recall(key: str, source: str) -> Report | None:
    text = recall(key) if key else None
    if not isinstance(text, str):
        return None
    try:
        return Report.from_json(json.loads(text.replace(_spelled(_PLACEHOLDER), _spelled(source))))
    except (UsageError, AttributeError, TypeError, ValueError, KeyError):  # none, or one of another format
        return None


def _keep(key: str, source: str, report: Report) -> None:
    text = json.dumps(report.to_json())
    keep(key, text.replace(_spelled(source), _spelled(_PLACEHOLDER)) if _is_temporary(source) else text)


def _spelled(text: str) -> str:
    return json.dumps(text)[1:-1]


def _is_temporary(source: str) -> bool:
    return Path(source).parent.name.startswith(reaper.PREFIX)


def _is_final(report: Report) -> bool:
    return not any(f.code in NOT_KEPT for f in report.findings) and not report.facts.get("unexplained")


def _runs_others(flags: Sequence[str]) -> bool:
    return any(word in flag for flag in flags for word in _OTHER_PROGRAMS)

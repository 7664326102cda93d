"""IREE's diagnostics, parsed: severity, message, places in the source, source-op tags."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fissile.finding import Place
from fissile.passes.analysis.dispatch.provenance import places_in, tags_in
from fissile.passes.failures.failure import failure_named
from fissile.passes.iree.messages import (
    NO_ELEMENT_TYPE,
    NO_SUCH_TARGET,
    NOTHING_TO_COMPILE,
    PARTIAL_BYTES,
    quoted,
)

__all__ = ["Diagnostic", "failure_code", "parse_diagnostic", "quoted"]

_LEADING_PLACE = re.compile(r'^(?:(?:"[^"\n]+"|[^\s":\n]+):\d+:\d+|<unknown>|-|loc\([^\n]*?\)):\s*')
_OPERATION_DUMP = re.compile(r"\n[^\n]*see current operation:.*", re.DOTALL)


INPUT_MESSAGES = (
    (NO_SUCH_TARGET, "FIS004"),
    (NOTHING_TO_COMPILE, "FIS003"),
    (NO_ELEMENT_TYPE, "FIS001"),
    (PARTIAL_BYTES, "FIS223"),
)
"""(pattern in IREE's message, rule), of what is no failure of a dispatch."""


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic of IREE. ``message`` is its first line without places; ``text`` is all of it, unchanged."""

    severity: str
    message: str
    text: str
    places: tuple[Place, ...] = ()
    tags: tuple[int, ...] = ()

    def named(self, names: Mapping[Place, str]) -> Diagnostic:
        """The same with the front end's ``names`` at its places, of which the text says only where they are."""
        return replace(self, places=tuple(replace(at, name=names.get(at, at.name)) for at in self.places))

    @property
    def is_error(self) -> bool:
        return self.severity == "error"


def parse_diagnostic(severity: str, text: str) -> Diagnostic:
    """A diagnostic from IREE's callback: `FILE:LINE:COL: message`, then notes with places of their own."""
    head = text.strip("\n").split("\n", 1)[0]
    places = places_in(_places_only(text))
    message = head
    while True:
        stripped = _LEADING_PLACE.sub("", message)
        if stripped == message:
            break
        message = stripped
    message = re.sub(r"^(error|warning|note|remark):\s*", "", message)
    return Diagnostic(severity, message, _OPERATION_DUMP.sub("", text).strip(), places, tags_in(text))


def failure_code(text: str) -> str:
    """The rule for a message of IREE: about the input as a whole, else the failure that declares it."""
    about_input = (code for pattern, code in INPUT_MESSAGES if re.search(pattern, text))
    return next(about_input, "") or failure_named(text).code


def _places_only(text: str) -> str:
    """The lines' leading places, one a line: what follows is prose and may look like a place."""
    leading = []
    for line in text.splitlines():
        match = re.match(r'^((?:"[^"\n]+"|[^\s":]+):\d+:\d+)(?=:|$|\s)', line)
        if match:
            leading.append(match.group(1).strip())
    return "\n".join(leading)

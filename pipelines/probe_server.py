"""A child process that generates code for one dispatch after another: `python -m fissile.pipelines.probe_server`.

Code generation may crash or never end; the parent (`probe_pool`) stops this process then and starts another.
Speaks JSON lines: {"text": module with one hal.executable, "index": which of its dispatches, "convert": bool} in,
a `Probed` and the first conversion error out. The first line in is {"flags": [...]}, IREE's process-global flags.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict

from fissile.passes.analysis.footprint import Allocation, Footprint

from fissile.finding import Place
from fissile.quantity import Bytes, Certainty

from .diagnostics import Diagnostic
from .lifeline import end_with_parent


def main() -> int:
    end_with_parent(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w")  # what IREE prints itself must not mix with answers
    os.dup2(2, 1)
    flags = json.loads(sys.stdin.readline())["flags"]
    from .iree.library import initialise_command_line

    initialise_command_line(flags)
    from fissile.passes.analysis.dispatches import dispatches

    from .probe import convert, probe
    from .session import Session

    session = Session()
    for line in sys.stdin:
        job = json.loads(line)
        module = session.parse_text(job["text"], "dispatch.mlir")
        dispatch = dispatches(module.op)[job["index"]]
        probed = probe(dispatch)
        converted = convert(dispatch) if job["convert"] and probed.failure is None else None
        answers.write(json.dumps({"probed": encode(probed), "converted": encode(converted)}) + "\n")
        answers.flush()
    return 0


def encode(value):
    """A `Probed` or Diagnostic (or None) as JSON values."""
    if value is None:
        return None

    def plain(item):
        if isinstance(item, Certainty):
            return item.value
        if isinstance(item, dict):
            return {key: plain(inner) for key, inner in item.items()}
        if isinstance(item, (list, tuple)):
            return [plain(inner) for inner in item]
        return item

    return plain(asdict(value))


def decode_diagnostic(data: dict | None) -> Diagnostic | None:
    if data is None:
        return None
    return Diagnostic(data["severity"], data["message"], data["text"], tuple(Place(**p) for p in data["places"]),
                      tuple(data["tags"]))


def decode_allocation(data: dict) -> Allocation:
    count = Bytes(data["bytes"]["value"], Certainty(data["bytes"]["certainty"]), data["bytes"]["origin"])
    place = Place(**data["place"]) if data["place"] else None
    return Allocation(data["space"], count, data["type"], tuple(data["tags"]), place)


def decode_footprint(data: dict) -> Footprint:
    return Footprint(tuple(decode_allocation(a) for a in data["allocations"]))


if __name__ == "__main__":
    sys.exit(main())

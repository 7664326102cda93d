"""A child process that generates code for one dispatch after another: `python -m fissile.pipelines.probe_server`.

Code generation may crash or never end; the parent (`probe_pool`) stops this process then and starts another.
Speaks JSON lines: {"text": module with one hal.executable, "index": which of its dispatches, "convert": bool} in,
a `Probed` and the first conversion error out. The first line in is {"flags": [...]}, IREE's process-global flags.
"""

from __future__ import annotations

import json
import os
import sys

from .iree.late_imports import load_late
from .lifeline import end_with_parent


def main() -> int:
    end_with_parent(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w")  # what IREE prints itself must not mix with answers
    os.dup2(2, 1)
    flags = json.loads(sys.stdin.readline())["flags"]
    load_late()
    from .iree.library import initialise_command_line

    initialise_command_line(flags)
    from fissile.passes.analysis.dispatches import dispatches

    from .probe import convert, probe
    from .probe_wire import encode
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


if __name__ == "__main__":
    sys.exit(main())

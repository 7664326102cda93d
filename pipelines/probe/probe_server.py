"""A child process that generates code for one dispatch after another: `python -m fissile.pipelines.probe.probe_server`.

Code generation may crash or never end; the parent (`probe_pool`) stops this process then and starts another.
Speaks JSON lines: {"text": module with one hal.executable, "index": which of its dispatches, "convert": bool, "translate": bool,
"flags": [...] of the session that links} in, a `Probed` and the first conversion error out. The first line in is {"flags": [...]}, IREE's process-global flags.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from fissile.passes.iree.late_imports import load_late

from ..process.entry import begin

if TYPE_CHECKING:
    from ..session import Session
    from .diagnostics import Diagnostic
    from .one_dispatch import Probed


def main() -> int:
    begin()
    answers = os.fdopen(os.dup(1), "w")  # what IREE prints itself must not mix with answers
    os.dup2(2, 1)
    flags = json.loads(sys.stdin.readline())["flags"]
    load_late()
    from fissile.passes.iree.library import initialise_command_line

    initialise_command_line(flags)
    from fissile.finding import to_json
    from fissile.passes.net import Net, ask, spread

    from ..session import Session
    from .one_dispatch import UNKNOWN
    from .probe_wire import encode

    session = Session()
    for line in sys.stdin:
        job = json.loads(line)
        with spread(Net()) as net:
            probed, converted = ask(
                "generated code",
                lambda job=job: _answer(session, job),
                (UNKNOWN, None),
                about=job["name"],
                cpu_limit=0,
            )
        missed = [to_json(finding) for finding in net.missed]
        answers.write(
            json.dumps({"probed": encode(probed), "converted": encode(converted), "missed": missed}) + "\n"
        )
        answers.flush()
    return 0


def _answer(session: Session, job: dict) -> tuple[Probed, Diagnostic | None]:
    from fissile.passes.analysis.dispatch.dispatches import dispatches

    from .linking import link
    from .one_dispatch import probe, probe_and_convert

    module = session.parse_text(job["text"], "dispatch.mlir")
    dispatch = dispatches(module.op)[job["index"]]
    if not job["convert"]:
        return probe(dispatch), None
    flags = tuple(job["flags"])
    probed, said = probe_and_convert(dispatch, flags)
    if probed.failure is None and said is None and job["translate"]:
        said = link(dispatch, flags)
    return probed, said


if __name__ == "__main__":
    sys.exit(main())

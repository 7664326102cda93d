"""A child process that generates code for one dispatch after another: `python -m fissile.pipelines.probe.probe_server`.

Code generation may crash or never end; the parent (`probe_pool`) stops this process then and starts another.
Speaks JSON lines (`probe_wire`): `ServerFlags` come in first, then a `GenerateJob` a line; a `Generated` a line goes out.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from fissile import wire
from fissile.passes.iree.late_imports import load_late

from ..process.entry import begin

if TYPE_CHECKING:
    from ..session import Session
    from .diagnostics import Diagnostic
    from .one_dispatch import Probed
    from .probe_wire import GenerateJob


def main() -> int:
    begin()
    answers = os.fdopen(os.dup(1), "w")  # what IREE prints itself must not mix with answers
    os.dup2(2, 1)
    first = sys.stdin.readline()
    load_late()
    from fissile.passes.iree.library import initialise_command_line

    from .probe_wire import Generated, GenerateJob, ServerFlags

    initialise_command_line(wire.decode(ServerFlags, first).flags)
    from fissile.passes.containment import Containment, contained, containing

    from ..session import Session

    session = Session()
    for line in sys.stdin:
        job = wire.decode(GenerateJob, line)
        with containing(Containment()) as containment:
            probed, converted = contained(
                "generated code",
                partial(_answer, session, job),
                (None, None),
                about=job.name,
                cpu_limit=0,
            )
        answers.write(wire.encode(Generated(probed, converted, containment.missed)).decode() + "\n")
        answers.flush()
    return 0


def _answer(session: Session, job: GenerateJob) -> tuple[Probed, Diagnostic | None]:
    from fissile.passes.analysis.dispatch.dispatches import dispatches

    from .linking import link
    from .one_dispatch import probe, probe_and_convert

    module = session.parse_text(job.text, "dispatch.mlir")
    dispatch = dispatches(module.op)[job.index]
    if not job.convert:
        return probe(dispatch), None
    probed, conversion_error = probe_and_convert(dispatch, job.flags)
    if probed.failure is None and conversion_error is None and job.translate:
        conversion_error = link(dispatch, job.flags)
    return probed, conversion_error


if __name__ == "__main__":
    sys.exit(main())

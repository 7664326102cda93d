"""One process that measures: `python -m fissile.pipelines.support.worker JOB.json`. A crash of IREE ends it, and not the table.

Programs are compiled many at a time, as functions of one module. Where IREE refuses it, a function that an error names by itself is refused,
and the others are compiled once more. Functions that an error names together are compiled alone; where errors name none, the
halves are. For each program a line says what became of it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..process.entry import begin
from .batch import Batch


def main() -> int:
    begin()
    from ..session import PhaseFailed, Session

    job = json.loads(Path(sys.argv[1]).read_text())
    session = Session(job["flags"])
    out = open(job["results"], "a", encoding="utf-8")

    def write(**line: Any) -> None:
        print(json.dumps(line), file=out, flush=True)

    queue = [Batch(tuple(map(tuple, programs))) for programs in job["batches"]]
    while queue:
        batch = queue.pop(0)
        write(begins=batch.keys)
        try:
            module = session.run(session.parse_text(batch.text()), "end")
        except PhaseFailed as failure:
            if len(batch.programs) == 1:
                write(key=batch.keys[0], state="refused", why=failure.message)
            else:
                refused, queued = batch.refused([(one.message, one.places) for one in failure.errors])
                for key, why in refused.items():
                    write(key=key, state="refused", why=why)
                queue = [*queued, *queue]
            continue
        artifact = ""
        if job["artifacts"]:
            artifact = f"{job['artifacts']}/{batch.name}.vmfb"
            session.write(module, artifact)
        for index, key in enumerate(batch.keys):
            write(key=key, state="compiles", artifact=artifact, function=batch.function(index))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Has a worker of a Dask cluster time programs on its device: `python -m fissile.pipelines.tune.remote FOLDER`.

FOLDER has `job.json` (`RemoteDevice`); `timed.json` is written there. The last line on standard error says why there is none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fissile.errors import UsageError


def drivers_here() -> list[str]:
    """The runtimes that answer on this machine."""
    from fissile.pipelines.numerics.runtimes import present

    return [runtime.name for runtime in present()]


def time_there(
    programs: Sequence[tuple[str, bytes]], signatures: Sequence[dict[str, Any]], drivers: Sequence[str]
) -> list[dict[str, object]]:
    """What a worker does: times the modules in turns on the first of its runtimes that ``drivers`` name."""
    from fissile.pipelines.numerics.runtimes import named
    from fissile.pipelines.numerics.signature import Signature, parse_value
    from fissile.pipelines.process.scratch import scratch
    from fissile.pipelines.tune.devices import plain
    from fissile.pipelines.tune.timing import time_in_turns

    here = drivers_here()
    runtime = named([next(driver for driver in drivers if driver in here)])[0]
    parsed = [
        Signature(
            one["function"],
            tuple(map(parse_value, one["arguments"])),
            tuple(map(parse_value, one["results"])),
        )
        for one in signatures
    ]
    with scratch() as folder:
        files = []
        for number, (name, module) in enumerate(programs):
            path = Path(folder, f"{number}.vmfb")
            path.write_bytes(module)
            files.append((name, path))
        return plain(time_in_turns(files, parsed, runtime))


def main(folder: Path) -> int:
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    from fissile.pipelines.sweep.cluster_client import connected

    try:
        client = connected(job["address"], "--tune-on")
    except UsageError as error:
        print(error.message, file=sys.stderr)
        return 1
    with client:
        have = client.run(drivers_here, on_error="return")
        worker = next(
            (
                name
                for name, found in have.items()
                if isinstance(found, list) and {*found} & {*job["drivers"]}
            ),
            None,
        )
        if worker is None:
            print(f"no worker has a device for {' or '.join(job['drivers'])}", file=sys.stderr)
            return 1
        programs = [(name, Path(path).read_bytes()) for name, path in job["programs"]]
        future = client.submit(
            time_there, programs, job["signatures"], job["drivers"], workers=[worker], pure=False
        )
        if (failure := future.exception()) is not None:
            print(f"worker {worker}: {type(failure).__name__}: {failure}", file=sys.stderr)
            return 1
        (folder / "timed.json").write_text(json.dumps(future.result()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

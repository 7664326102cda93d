"""The Python environments that a sweep compiles in: this one, or others with another version of IREE."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from fissile.errors import UsageError

from ..process.child import SAFE_PATH, run_child

_SECONDS = 120.0
_QUESTION = (
    "import json; from fissile.pipelines.sweep.environments import described; print(json.dumps(described()))"
)


@dataclass(frozen=True)
class Environment:
    """``python`` is the interpreter; ``fissile`` its version and the digest of its sources, ``iree`` the compiler's version."""

    python: str
    fissile: str
    iree: str

    @property
    def identity(self) -> tuple[str, str]:
        """What decides a result; not where the interpreter lies."""
        return (self.fissile, self.iree)

    @property
    def label(self) -> str:
        return f"IREE {self.iree}"


def described() -> dict[str, str]:
    """The versions of the environment that this runs in."""
    from importlib.metadata import version

    from fissile.passes.iree.version import installed

    from .sources import digest_of_sources

    return {"fissile": f"{version('fissile')}+{digest_of_sources()}", "iree": installed()}


def find_environments(interpreters: Sequence[str]) -> list[Environment]:
    """The environments of ``interpreters``; of this process where none is named. Raises UsageError for one without fissile."""
    if not interpreters:
        return [Environment(sys.executable, **described())]
    return [_queried(python) for python in dict.fromkeys(map(_absolute, interpreters))]


def _absolute(python: str) -> str:
    """The interpreter from any working directory. A link stays one: an environment is where its link lies."""
    return os.path.abspath(python) if os.sep in python else shutil.which(python) or python


def _queried(python: str) -> Environment:
    try:
        ended = run_child([python, SAFE_PATH, "-c", _QUESTION], _SECONDS)
    except OSError as error:
        raise UsageError(f"cannot run --python={python}: {error.strerror}") from None
    if ended.status != 0:
        last = (ended.err.strip().splitlines() or [ended.reason])[-1]
        raise UsageError(
            f"--python={python} cannot import fissile: {last}",
            f"{python} -m pip install fissile, with the IREE wanted",
        )
    return Environment(python, **json.loads(ended.out))

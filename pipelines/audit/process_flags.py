"""Which flags of a command line are read once per process, and by no session."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence


def process_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Those of ``flags`` that IREE's session does not know. A fork makes the session: in this process none may be made before they are set."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            with os.fdopen(writing, "w", encoding="utf-8") as answer:
                json.dump(_unknown(flags), answer)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as answer:
        content = answer.read()
    os.waitpid(pid, 0)
    return tuple(json.loads(content)) if content else ()


def _unknown(flags: Sequence[str]) -> list[str]:
    from fissile.passes.iree import library

    known = {flag.split("=", 1)[0] for flag in library.Session().get_flags()}
    return [flag for flag in dict.fromkeys(flags) if flag.split("=", 1)[0] not in known]

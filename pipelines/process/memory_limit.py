"""How much memory a child process may take: by default what the machine, or the control group that fissile runs in, has.

Applied as RLIMIT_DATA, which counts private writable memory: heap and thread stacks, and neither files that are mapped to be read (a
model's weights) nor address space that is only reserved, as RLIMIT_AS would (GPU drivers reserve more than any machine has).
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from fissile.errors import UsageError

VARIABLE = "FISSILE_MEMORY_LIMIT"
OPTION = "--memory-limit"
VALUE = "a size"
WAY_OUT = f"write {OPTION}=8G, or 0 for no limit"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
LEAST = 32 << 20
"""Bytes: Python and IREE's bindings take more before they have read a program."""
_CONTROL_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
OUT_OF_MEMORY = re.compile(
    r"LLVM ERROR: out of memory|std::bad_alloc|MemoryError|Cannot allocate memory|Memory allocation still failed|pthread_create failed"
    r"|failed to map segment from shared object(?!: Operation not permitted)",
    re.IGNORECASE,
)
"""What LLVM, the C++ library, Python, the system and its loader print when memory is refused."""


def memory_limit() -> int:
    """Bytes for one child process; 0 is no limit. Raises UsageError where the environment names none that can be read."""
    spelled = os.environ.get(VARIABLE, "")
    return parse_size(spelled) if spelled else machine_memory()


def parse_size(spelled: str) -> int:
    """Bytes of ``512M``, ``8G``, ``0`` …; none so small that a child ends without a word of why."""
    match = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", spelled.strip(), re.IGNORECASE)
    if not match:
        raise UsageError(f"'{spelled}' is not a size of memory", WAY_OUT)
    size = int(match[1]) * _UNITS[match[2].upper()]
    if 0 < size < LEAST:
        raise UsageError(
            f"no process of fissile's can start with {spelled.strip()} of memory",
            f"{WAY_OUT}; a small program takes about 100M",
        )
    return size


def machine_memory() -> int:
    """Memory and swap of the machine, or the limit of the control group where that is less; 0 where neither can be read."""
    sizes = []
    with suppress(OSError):
        found = re.findall(
            r"^(?:MemTotal|SwapTotal):\s*(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE
        )
        sizes.append(sum(map(int, found)) << 10)
    for file in _CONTROL_GROUPS:
        with suppress(OSError, ValueError):  # "max" is no number
            sizes.append(int(Path(file).read_text()))
    return min((size for size in sizes if size), default=0)


def apply_memory_limit(pid: int, most: int) -> None:
    """Limits process ``pid``, and what it starts from now on, to ``most`` bytes each (Linux); and to no core files."""
    if not sys.platform.startswith("linux"):
        return
    import resource

    with suppress(OSError, ValueError):  # it has ended already, or may not be limited
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        soft, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
        allowed = [size for size in (most or -1, soft, hard) if size != resource.RLIM_INFINITY]
        if allowed:
            resource.prlimit(pid, resource.RLIMIT_DATA, (min(allowed), min(allowed)))

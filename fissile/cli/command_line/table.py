"""The commands. The parser, --help, shell completion and docs/commands.md are made from their declarations."""

from __future__ import annotations

from .checking import AUDIT, CHECK, VERIFY
from .compiling import COMPILE, REDUCE
from .declaration import Command
from .fleet import SWEEP
from .pages import CACHE, COMPLETION, EXPLAIN, PASSES, REPORT, SUPPORT, TARGETS

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        COMPILE,
        CHECK,
        AUDIT,
        VERIFY,
        REDUCE,
        SWEEP,
        REPORT,
        EXPLAIN,
        PASSES,
        TARGETS,
        SUPPORT,
        CACHE,
        COMPLETION,
    )
}
"""In the order of `fissile --help`."""

"""An option or an argument of a command, declared once: the parser, --help, shell completion and docs/commands.md are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fissile.errors import UsageError

FILE = "FILE"
"""In the name of a value: shells complete it with file names."""


@dataclass(frozen=True)
class Option:
    """``--name``. Without ``value`` it is a switch.

    ``value`` is what stands for the value in help: `SECONDS`, `FILE.py`. ``kind`` is the type of the value: a function of its text that
    raises ValueError (`fissile.option_values`). ``field`` is the attribute that holds it. ``aliases`` are old spellings, which are taken and not listed.
    """

    name: str
    help: str
    value: str = ""
    choices: tuple[str, ...] = ()
    default: Any = None
    kind: Any = str
    repeated: bool = False
    field: str = ""
    short: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def attribute(self) -> str:
        return self.field or self.name.replace("-", "_")

    @property
    def spellings(self) -> tuple[str, ...]:
        """All of them, the one that is listed first."""
        return (
            *(f"--{name}" for name in (self.name, *self.aliases)),
            *([f"-{self.short}"] if self.short else []),
        )

    @property
    def shown(self) -> str:
        """`-v, --verbose`, `--repair=auto|suggest|off`."""
        value = "|".join(self.choices) or self.value
        head = f"-{self.short}, " if self.short else ""
        return f"{head}--{self.name}" + (f"={value}" if value else "")

    def read(self, text: str) -> Any:
        """The value that ``text`` spells. Raises UsageError, naming the option."""
        try:
            return self.kind(text)
        except ValueError as error:
            raise UsageError(
                f"option '--{self.name}' takes {error}, not '{text}'", f"write --{self.name}=NUMBER"
            ) from None

    @property
    def takes_value(self) -> bool:
        return bool(self.value or self.choices)

    @property
    def takes_file(self) -> bool:
        return FILE in self.value


@dataclass(frozen=True)
class Argument:
    """A word without a dash. ``count`` is argparse's nargs: "" for exactly one, "?", "*", "+"."""

    name: str
    help: str
    count: str = ""
    kind: Any = str
    default: Any = None
    choices: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return {"": self.name, "?": f"[{self.name}]", "*": f"[{self.name} …]", "+": f"{self.name} …"}[
            self.count
        ]

"""What a command declares: its module, what it takes, examples. `table.py` lists all commands."""

from __future__ import annotations

from dataclasses import dataclass

from fissile.option import Argument, Option

EXIT_STATUS = "0 clean or repaired, 1 findings remain, 2 usage, or no space or memory, 3 internal error"


@dataclass(frozen=True)
class Example:
    """A command as a user types it, and what it is for."""

    command: str
    purpose: str


@dataclass(frozen=True)
class Command:
    """``module`` has `run(args)`; of a command with ``own_parser`` `run(words)`.

    ``flags``: what else stands on its command line, in the usage. ``options`` are in groups under a heading.
    """

    name: str
    module: str
    sentence: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[tuple[str, tuple[Option, ...]], ...] = ()
    examples: tuple[Example, ...] = ()
    description: str = ""
    flags: str = ""
    exit_status: str = EXIT_STATUS
    own_parser: bool = False
    program: str = "fissile"

    @property
    def all_options(self) -> tuple[Option, ...]:
        return tuple(option for _heading, options in self.options for option in options)

    @property
    def title(self) -> str:
        return f"{self.program} {self.name}".strip()

    @property
    def opening(self) -> str:
        """The sentence with a capital letter, unless it begins with the name of a program."""
        first = self.sentence.split()[0]
        head = first if "-" in first else first.capitalize()
        return f"{head}{self.sentence[len(first) :]}."

    @property
    def usage(self) -> str:
        words = [self.title, *(argument.shown for argument in self.arguments)]
        words += ["[options]"] if self.options else []
        words += [f"[{self.flags}]"] if self.flags else []
        return " ".join(words)

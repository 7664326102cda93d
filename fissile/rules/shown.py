"""How a person sees a finding, and sees it gone: a command and a program, and the same repaired. The tests run both."""

from __future__ import annotations

from dataclasses import dataclass

INPUT = "in.mlir"
"""The file that a page calls the program."""


@dataclass(frozen=True)
class Shown:
    """``command`` reports the finding of ``program`` (the file in.mlir) and not of ``repaired``.

    Where the program stays and the command changes, ``repaired_command`` is the other one. ``files`` are further files that the
    commands name, as (name, text), and ``repaired_files`` those that are replaced. ``setting`` is what has to be so around the command, where a program alone does not show
    the finding ("z3 is not installed"); the tests know how to bring it about, and that it is not so for the repaired command.
    """

    command: str
    program: str = ""
    repaired: str = ""
    repaired_command: str = ""
    files: tuple[tuple[str, str], ...] = ()
    repaired_files: tuple[tuple[str, str], ...] = ()
    setting: str = ""

    def fails(self) -> str:
        """What is typed, and the files that it reads, as a page shows them."""
        where = f"# where {self.setting}\n" if self.setting else ""
        return where + _typed(self.command) + _listed(self.files, self.program)

    def works(self) -> str:
        """The same, repaired."""
        where = "# otherwise\n" if self.setting else ""
        changed = _listed(self.repaired_files, self.repaired)
        return where + _typed(self.repaired_command or self.command) + (changed or "(the same program)")


def _typed(command: str) -> str:
    return "".join(f"$ {line}\n" for line in command.splitlines())


def _listed(files: tuple[tuple[str, str], ...], program: str) -> str:
    """The files, each behind its name where there are several."""
    texts = [*files, *([(INPUT, program)] if program else [])]
    if len(texts) == 1 and program:
        return program
    return "".join(f"--- {name}\n{text}" for name, text in texts)

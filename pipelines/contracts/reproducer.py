"""Where is the program that shows a broken contract again, and by which command?"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fissile.passes.definition import Property
from fissile.passes.user_code import loaded_files

from ..process.limits import limits_in_force
from ..process.scratch import lasting_folder


@dataclass(frozen=True)
class Reproducer:
    """``file`` holds the IR from before the pass, ``command`` runs that pass alone on it."""

    file: Path
    command: str

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"the IR before it: {self.file}", f"shows it again: {self.command}")


def write_reproducer(text: str, pipeline: str, name: str, broken: Iterable[Property] = ()) -> Reproducer:
    """Writes ``text``, the IR from before pass ``name``, to a folder of its own; ``pipeline`` runs the pass alone, which need not name
    the properties that it has ``broken``."""
    folder = Path(tempfile.mkdtemp(prefix="fissile-contract-", dir=lasting_folder()))
    file = folder / f"before-{name}.mlir"
    file.write_text(text, encoding="utf-8")
    words = ["fissile-opt", str(file), *(f"--load-passes={own}" for own in loaded_files())]
    words += [f"--pass-pipeline={pipeline}", "--verify-contracts"]
    words += [*(f"--verify-property={prop.name}" for prop in broken), *limits_in_force(())]
    return Reproducer(file, shlex.join(words))

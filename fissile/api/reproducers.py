"""The files that a reproducer names, where they are fissile's own and would go with the call."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fissile.errors import InternalError
from fissile.pipelines.process.scratch import lasting_folder


@contextmanager
def kept_for_a_reproducer(files: Iterable[Path], folder: Path | None = None) -> Iterator[None]:
    """Where an InternalError leaves the block with a reproducer, that names copies of ``files``, which stay.

    ``folder``, a scratch folder, is where the reproducer's output would go: that goes beside the copies.
    """
    try:
        yield
    except InternalError as error:
        if error.reproducer and (own := tuple(files)):
            kept = Path(tempfile.mkdtemp(prefix="fissile-reproducer-", dir=lasting_folder()))
            for file in own:
                shutil.copyfile(file, kept / file.name)
            for gone in dict.fromkeys((*(file.parent for file in own), *((folder,) if folder else ()))):
                error.reproducer = error.reproducer.replace(f"{gone}/", f"{kept}/")
        raise

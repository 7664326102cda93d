"""Atomic write: an output appears whole or not at all, and where stock iree-compile would write it.

A regular file is made in a private folder beside its place and renamed into it, so nobody can put a link where it is opened. Of a
link the file that it leads to is replaced. A device, a pipe and what /dev/fd names are written to; so is a file in a folder
that takes no new ones.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fissile.errors import UsageError

from .scratch import SCRATCH_VARIABLE, scratch, stage

_MOST_LINKS = 40
_DESCRIPTOR_FOLDERS = ("/proc/", "/dev/fd")


@dataclass(frozen=True)
class Place:
    """Where an output goes: ``path`` without links at its end. ``in_place``: what is there is opened and written to."""

    path: Path
    in_place: bool


def place_of(path: str | os.PathLike) -> Place:
    """Raises UsageError for what cannot be written: a folder, a folder that is not there, missing permission."""
    target = Path(path).absolute()
    for _ in range(_MOST_LINKS):
        folder = os.path.realpath(target.parent)
        target = Path(folder, target.name)
        if f"{folder}/".startswith(_DESCRIPTOR_FOLDERS):
            return _open(target, path)  # a descriptor: its file may have no name, or be in use by others
        if not target.is_symlink():
            break
        target = Path(folder, os.readlink(target))
    else:
        raise UsageError(f"cannot write {path}: too many links")
    if target.is_dir():
        raise UsageError(f"cannot write {path}: it is a directory", "name a file: -o NAME.vmfb")
    if not target.parent.is_dir():
        raise UsageError(f"cannot write {path}: no directory {Path(path).parent}", "create it first")
    if not os.path.lexists(target):
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise UsageError(f"cannot write {path}: permission denied", "choose another place with -o")
        return Place(target, False)
    if not stat.S_ISREG(target.stat().st_mode) or not os.access(target.parent, os.W_OK | os.X_OK):
        return _open(target, path)
    if not os.access(target, os.W_OK):
        raise UsageError(f"cannot write {path}: permission denied", "choose another place with -o")
    return Place(target, False)


def _open(target: Path, path: str | os.PathLike) -> Place:
    if not target.exists():
        raise UsageError(f"cannot write {path}: there is no such descriptor")
    if not os.access(target, os.W_OK) and not _is_own(target):
        raise UsageError(f"cannot write {path}: permission denied", "choose another place with -o")
    return Place(target, True)


def _is_own(target: Path) -> bool:
    """Whether ``target`` names a descriptor of this process, which can be written to also where its file cannot be opened."""
    return str(target.parent) in ("/dev/fd", f"/proc/{os.getpid()}/fd") and target.name.isdigit()


@contextmanager
def staged(place: Place, folder: Path) -> Iterator[Path]:
    """A path to make the output at, in a private folder that goes with the scratch ``folder``; `deliver` puts it in its place."""
    if place.in_place:
        yield folder / "output"
        return
    private = place.path.parent / f".fissile-{os.urandom(16).hex()}"
    stage(folder, private)
    try:
        private.mkdir(mode=0o700)
    except OSError as error:
        raise UsageError(
            f"cannot write {place.path}: {error.strerror}", "choose another place with -o"
        ) from None
    try:
        yield private / place.path.name
    finally:
        shutil.rmtree(private, ignore_errors=True)


def deliver(output: Path, place: Place) -> None:
    """Moves ``output``, made at the path that `staged` gave, into its place."""
    try:
        if place.in_place:
            _write_in_place(output, place.path)
            return
        if (
            place.path.exists()
        ):  # a file that is written anew keeps its modes, and its owner where that is allowed
            before = place.path.stat()
            with suppress(OSError):
                os.chown(output, before.st_uid, before.st_gid)
            output.chmod(stat.S_IMODE(before.st_mode))
        try:
            output.replace(place.path)
        except (
            PermissionError
        ):  # another user's file in a sticky folder may be writable and still not be replaced
            _write_in_place(output, place.path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"cannot write {place.path}: {error.strerror}") from None


def _write_in_place(output: Path, path: Path) -> None:
    """No O_CREAT: what is not there any more is not made. O_TRUNC as stock opens it. Links were followed before: none is now."""
    follow = 0 if f"{path.parent}/".startswith(_DESCRIPTOR_FOLDERS) else os.O_NOFOLLOW
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | follow)
    except OSError as error:
        if error.errno not in (errno.ENXIO, errno.EACCES) or not _is_own(path):
            raise
        descriptor = os.dup(int(path.name))  # a socket has no path to open; a pipe may be another user's
    with open(descriptor, "wb") as sink, output.open("rb") as source:
        shutil.copyfileobj(source, sink)


def write_atomically(path: str | os.PathLike, write: Callable[[Path], object]) -> None:
    """Has ``write`` make a file, which then takes the place of ``path`` in one step."""
    place = place_of(path)
    with _own_scratch() as folder, staged(place, folder) as output:
        write(output)
        deliver(output, place)


@contextmanager
def _own_scratch() -> Iterator[Path]:
    """A child of fissile works in its parent's scratch folder, which covers what it stages."""
    given = os.environ.get(SCRATCH_VARIABLE)
    if given and os.path.isdir(given):
        yield Path(given)
        return
    with scratch() as folder:
        yield folder

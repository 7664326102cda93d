"""A bounded file of answers in the user's cache folder, shared by all processes: key -> JSON value.

Nothing in it is executed here, and nothing in it is trusted to be whole: an entry whose checksum is wrong, a file that is no database
and a file that is locked are all answered as if there were no entry. A repaired module comes from it, so a folder or file that another
user owns or may write to is not used at all. `FISSILE_CACHE=off` or `--no-cache` leaves it out,
`FISSILE_CACHE=FOLDER` is another folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import sqlite3

Answer = TypeVar("Answer")

VARIABLE = "FISSILE_CACHE"
OFF = "off"
MOST_BYTES = 512 << 20
"""Of all entries together; beyond, those that were used least recently go until a quarter is free."""
MOST_ENTRY = 64 << 20
_WAIT_SECONDS = 2.0
"""For another process that writes; then there is no entry."""
_USED_SECONDS = 3600.0
"""So exactly is known when an answer was last used: a write costs more than a read."""
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ENTER = stat.S_IXGRP | stat.S_IXOTH
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, sum BLOB, value BLOB, size INTEGER, used REAL)"
)


def folder() -> Path | None:
    """Where answers are kept; None where they are not."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() == OFF:
        return None
    if chosen:
        return Path(chosen)
    caches = os.environ.get("XDG_CACHE_HOME", "")
    return Path(caches if os.path.isabs(caches) else os.path.expanduser("~/.cache"), "fissile")


def leave_out() -> None:
    """Keeps and recalls nothing in this process from now on, nor in those that it starts."""
    os.environ[VARIABLE] = OFF


def file() -> Path | None:
    where = folder()
    return where / "answers.sqlite" if where is not None else None


def has_answers() -> bool:
    """Whether there is a file to look in: what a key costs need not be paid without one."""
    where = file()
    return where is not None and where.exists()


def recall(key: str) -> Any:
    """The JSON value that was kept under ``key``; None where there is none."""
    data = recall_bytes(key)
    try:
        return None if data is None else json.loads(data)
    except ValueError:
        return None


def keep(key: str, value: Any) -> None:
    """Keeps ``value`` (plain JSON values) under ``key``, in place of what was there."""
    if file() is not None:
        keep_bytes(key, json.dumps(value, separators=(",", ":")).encode())


def recall_bytes(key: str) -> bytes | None:
    """The bytes that were kept under ``key``; None where there are none."""

    def find(database: sqlite3.Connection) -> bytes | None:
        row = database.execute("SELECT sum, value, used FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        checksum, value, used = row
        if not isinstance(value, bytes) or checksum != _sum(key, value):
            database.execute("DELETE FROM answers WHERE key = ?", (key,))
            return None
        if not isinstance(used, float) or abs(time.time() - used) > _USED_SECONDS:
            database.execute("UPDATE answers SET used = ? WHERE key = ?", (time.time(), key))
        return value

    return _with_connection(find, None)


def keep_bytes(key: str, data: bytes) -> None:
    """Keeps ``data`` under ``key``, unless it is more than MOST_ENTRY."""
    if file() is None or len(data) > MOST_ENTRY:
        return

    def write(database: sqlite3.Connection) -> None:
        row = (key, _sum(key, data), data, len(data), float(time.time()))
        database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)
        _make_room(database)

    _with_connection(write, None, writes=True)


def forget_all() -> None:
    """Removes every answer."""
    if (where := file()) is not None:
        _remove(where)


def totals() -> tuple[int, int]:
    """How many answers there are, and their bytes."""

    def count(database: sqlite3.Connection) -> tuple[int, int]:
        found: tuple[int, int] = database.execute(
            "SELECT COUNT(*), COALESCE(SUM(size), 0) FROM answers"
        ).fetchone()
        return found

    return _with_connection(count, (0, 0))


def _with_connection(
    action: Callable[[sqlite3.Connection], Answer], otherwise: Answer, writes: bool = False
) -> Answer:
    """What ``action`` does with the database, as one transaction; ``otherwise`` where there is none, or it cannot be used.

    A connection does not outlive an operation: processes are forked, and ended at any moment.
    """
    where = file()
    if where is None or not writes and not where.exists():
        return otherwise
    import sqlite3  # a program that has no answers does not pay for it

    try:
        if writes:
            where.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_private(where):
            return otherwise
        with closing(sqlite3.connect(where, timeout=_WAIT_SECONDS)) as database:
            # A lost answer is found again: nothing waits for the disk.
            database.execute("PRAGMA synchronous = OFF")
            with database:
                database.execute(_SCHEMA)
                return action(database)
    except sqlite3.DatabaseError as error:
        if not isinstance(error, sqlite3.OperationalError):
            _remove(where)  # no database, or a broken one
    except (OSError, ValueError, TypeError, OverflowError):
        pass
    return otherwise


def is_private(where: Path) -> bool:
    """Whether no other user than root could have written the file ``where``, or could put another one in its place.

    A link is not followed: what it leads to, somebody else may choose. A file that is not there yet may be made. Who may not enter the
    folder writes no file in it, whatever the file's own mode.
    """
    if not hasattr(os, "geteuid"):
        return True
    try:
        folder = where.parent.stat()
        if not stat.S_ISDIR(folder.st_mode) or not _is_own(folder, _OTHERS_WRITE):
            return False
        refused = _OTHERS_WRITE if folder.st_mode & _OTHERS_ENTER else 0
        for path in (where, _journal(where)):
            with suppress(FileNotFoundError):
                found = path.lstat()
                if not stat.S_ISREG(found.st_mode) or not _is_own(found, refused):
                    return False
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _is_own(found: os.stat_result, refused: int) -> bool:
    """Whether this user or root owns the file, and its mode has no bit of ``refused``."""
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & refused


def _make_room(database: sqlite3.Connection) -> None:
    (size,) = database.execute("SELECT COALESCE(SUM(size), 0) FROM answers").fetchone()
    if size <= MOST_BYTES:
        return
    for key, entry in database.execute("SELECT key, size FROM answers ORDER BY used").fetchall():
        if size <= MOST_BYTES * 3 // 4:
            break
        database.execute("DELETE FROM answers WHERE key = ?", (key,))
        size -= entry


def _remove(where: Path) -> None:
    for name in (where, _journal(where)):
        with suppress(OSError):
            name.unlink()


def _journal(where: Path) -> Path:
    """Where SQLite keeps what it may have to take back."""
    return where.with_name(where.name + "-journal")


def _sum(key: str, value: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + value).digest()

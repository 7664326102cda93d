"""What ends a program that has begun nothing yet: a signal while it is imported, one line, and the status that shells show."""

from __future__ import annotations

# Not signal, which makes enumerations for some milliseconds: Ctrl-C would be a traceback.
import _signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False  # not typing's, which is not loaded yet
if TYPE_CHECKING:
    from types import FrameType

PROGRAMS = ("fissile", "fissile-opt")
_NAMES = {_signal.SIGINT: "SIGINT", _signal.SIGTERM: "SIGTERM", _signal.SIGHUP: "SIGHUP"}
SIGNALS = tuple(_NAMES)


def end_at_once(number: int, _frame: FrameType | None) -> None:
    """Ends the process: there is nothing to clean up. No exception, which what is being imported could catch."""
    line = f"{_program()}: stopped by {_NAMES[number]}\n"
    try:
        os.write(2, line.encode())
    finally:
        os._exit(128 + number)


def signals_end_it() -> None:
    """From here on SIGINT, SIGTERM and SIGHUP end this process with `end_at_once`, if it is one of `PROGRAMS`.

    What is ignored (nohup), or handled by whoever imported this, stays so.
    """
    if not _program():
        return
    for number in SIGNALS:
        if _signal.getsignal(number) in (_signal.SIG_DFL, _signal.default_int_handler):
            _signal.signal(number, end_at_once)


def _program() -> str:
    """The program that this process is; empty: another one, which imports fissile."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    if name in PROGRAMS:
        return name
    after = sys.orig_argv[sys.orig_argv.index("-m") + 1 :] if "-m" in sys.orig_argv else []
    return "fissile" if after[:1] in (["fissile"], ["fissile.cli.main"]) else ""

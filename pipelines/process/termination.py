"""SIGTERM and SIGHUP end a command as Ctrl-C does: its children end, its files go."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(KeyboardInterrupt):
    """The command was ended by signal ``number``."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def exit_status(error: KeyboardInterrupt) -> int:
    """What a shell shows for a command that a signal ended: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
    return 128 + getattr(error, "number", signal.SIGINT)


@contextmanager
def signals_raise() -> Iterator[None]:
    """Within the block SIGINT, SIGTERM and SIGHUP raise `Terminated`; a second one does not disturb the cleaning up.

    What is ignored stays ignored (nohup).
    """

    def raise_it(number: int, _frame: FrameType | None) -> None:
        for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(other, signal.SIG_IGN)
        raise Terminated(number)

    before = {}
    in_main_thread = threading.current_thread() is threading.main_thread()  # no other may have handlers
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if in_main_thread else ():
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            before[number] = signal.signal(number, raise_it)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

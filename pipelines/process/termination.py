"""SIGTERM and SIGHUP end a command as Ctrl-C does: its children end, its files go."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from fissile.before_work import SIGNALS, end_at_once

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


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

    The block ends with `Terminated` whatever becomes of that exception: native code may turn it into another one, a callback that
    Python runs may lose it. What is ignored stays ignored (nohup).
    """
    received: list[int] = []

    def raise_it(number: int, _frame: FrameType | None) -> None:
        for other in SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        received.append(number)
        raise Terminated(number)

    def raise_it_again(lost: UnraisableHookArgs) -> None:
        """`Terminated` came in a callback (``__del__``, of a weak reference), out of which no exception gets."""
        if not isinstance(lost.exc_value, Terminated):
            return hook_before(lost)
        signal.signal(lost.exc_value.number, raise_it)
        waits = (lost.exc_value.number, raise_it_again.__code__)
        threading.Thread(target=_interrupt_main_outside, args=waits, daemon=True).start()

    before, hook_before = {}, sys.unraisablehook
    in_main_thread = threading.current_thread() is threading.main_thread()  # no other may have handlers
    for number in SIGNALS if in_main_thread else ():
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, end_at_once):
            before[number] = signal.signal(number, raise_it)
    if before:
        sys.unraisablehook = raise_it_again
    try:
        yield
        if received:
            raise Terminated(received[0])
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if received:
            raise Terminated(received[0]) from error
        raise
    finally:
        sys.unraisablehook = hook_before
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt_main_outside(number: int, code: CodeType) -> None:
    """Sends signal ``number`` to the main thread once it has left the function of ``code``."""
    main = threading.main_thread().ident
    while (frame := sys._current_frames().get(main or 0)) is not None:
        while frame is not None and frame.f_code is not code:
            frame = frame.f_back
        if frame is None:
            break
        time.sleep(0.001)
    _thread.interrupt_main(signal.Signals(number))

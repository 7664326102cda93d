"""A child process that answers one request after another, in JSON lines, under a deadline for each answer."""

from __future__ import annotations

import errno
import json
import os
import select
import subprocess
from collections import deque
from contextlib import ExitStack

from fissile import wire

from .child import Child, module_command
from .deadline import CpuDeadline
from .memory_limit import OUT_OF_MEMORY
from .scratch import scratch

_OUT_OF_SPACE = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))
"""What native code prints where a disk is full, before it ends the process."""
_POLL_SECONDS = 0.1
_CHUNK = 1 << 16
_ENDING_SECONDS = 30.0
"""For a child that has closed its pipes to end: on a machine with much other work it gets no processor for a while."""


class Server:
    """The module ``module`` of this installation, run as a child. Neither sending a request nor reading an answer waits for ever:
    a child that stops reading, or stops in the middle of a line, meets the same deadline as one that computes.
    """

    def __init__(self, module: str) -> None:
        self._stack = ExitStack()
        try:
            folder = self._stack.enter_context(scratch())
            self._errors = folder / "err"
            with self._errors.open("wb") as errors:
                self._child = self._stack.enter_context(
                    Child(
                        module_command(module),
                        folder,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=errors,
                    )
                )
        except BaseException:
            self._stack.close()
            raise
        streams = self._child.stdin, self._child.stdout
        assert streams[0] is not None and streams[1] is not None  # pipes
        self._in, self._out = streams[0].fileno(), streams[1].fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._to_send: deque[memoryview] = deque()
        self._received = b""

    def send(self, message: object) -> None:
        """Queues ``message``; it goes out with the next `request`."""
        self._to_send.append(memoryview(wire.encode(message) + b"\n"))

    def request(self, message: object, seconds: float) -> dict | str | None:
        """The answer to ``message``, None when ``seconds`` (0: no limit) have passed without a whole one, or why there is none."""
        self.send(message)
        deadline = CpuDeadline(self._child.pid, seconds) if seconds else None
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        poll.register(self._in, select.POLLOUT)
        while b"\n" not in self._received:
            if not self._exchange(poll):
                return self._why()
            if deadline is not None and deadline.is_over:
                return None
        line, _, self._received = self._received.partition(b"\n")
        try:
            return json.loads(line)  # and not `wire`: a certificate's numbers may be infinite
        except ValueError:
            return "an answer that cannot be read"

    def end(self) -> None:
        self._stack.close()

    def _exchange(self, poll: select.poll) -> bool:
        """Sends and reads what can be without waiting for more than a moment. False where the child has closed its end."""
        for descriptor, _event in poll.poll(_POLL_SECONDS * 1000):
            try:
                if descriptor == self._out:
                    if not (chunk := os.read(self._out, _CHUNK)):
                        return False
                    self._received += chunk
                elif sent := os.write(self._in, self._to_send[0]):
                    self._to_send[0] = self._to_send[0][sent:]
                    if not self._to_send[0]:
                        self._to_send.popleft()
                    if not self._to_send:
                        poll.unregister(self._in)
            except BlockingIOError:
                continue
            except BrokenPipeError:
                return False
        return True

    def _why(self) -> str:
        """How it ended. One that closed its pipes and lives on is ended."""
        status = self._child.wait(_ENDING_SECONDS)
        if status is None:
            return "it closed its pipes"
        errors = self._errors.read_text(encoding="utf-8", errors="replace") if status else ""
        if OUT_OF_MEMORY.search(errors):
            return "out of memory"
        if full := next((words for words in _OUT_OF_SPACE if words in errors), ""):
            return full
        from .worker_end import how_it_ended  # reports of a compile: only where there is something to report

        return how_it_ended(status)

"""Signals at random moments, to a command, to its process group as a terminal sends them, or to one of its children."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress

from .commands import COMMANDS, Command
from .results import Row
from .trial import STATUSES, World, broken_promises, world

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGQUIT, signal.SIGABRT)
START_SECONDS = 0.3
"""In which a program is imported: four signals in ten come then, the others at any moment of its life."""
OLD = b"what was there before\n"
_healthy: dict[str, tuple[float, bytes]] = {}


def trials(count: int, seed: int, only: str = "") -> Iterator[str]:
    names = [only] if only else list(COMMANDS)
    return (f"{names[index % len(names)]}-{seed}-{index}" for index in range(count))


def run(trial: str) -> Row:
    """One command that is disturbed once. ``broken``: orphans, leftovers, a lost output, a status that is no answer."""
    name, seed, index = trial.rsplit("-", 2)
    command = COMMANDS[name]
    draw = random.Random(f"{seed}:{index}")
    seconds, whole = _undisturbed(name, command)
    number = draw.choice(SIGNALS)
    at = draw.uniform(0.0, START_SECONDS if draw.random() < 0.4 else 1.1 * seconds)
    aim = draw.choice(("command", "command", "group", "child"))
    with world(command.files) as here:
        if command.output:
            (here.work / command.output).write_bytes(OLD)
        sent: list[str] = []
        ended = here.run(
            command.words,
            outputs=command.outputs,
            disturb=lambda p: _send(p, here, number, at, aim, draw, sent),
        )
        left = (
            (here.work / command.output).read_bytes()
            if command.output and (here.work / command.output).exists()
            else None
        )
    # A command that is sent a signal may end by it, as shells report it; one whose child was ended has to answer.
    by_signal = sent != ["child"]
    broken = broken_promises(ended, (*STATUSES, -number, 128 + number) if by_signal else STATUSES)
    broken = [word for word in broken if word != "no message" or not by_signal]
    if command.output and left != OLD and not _is_whole(command, left, whole):
        broken.append("lost output")
    if command.output and ended.status == 0 and left == OLD:
        broken.append("exit 0 without its output")
    return {
        "broken": broken,
        "signal": number.name,
        "aim": aim,
        "at": round(at, 2),
        "sent": "".join(sent),
        "status": ended.status,
        "seconds": round(ended.seconds, 2),
        "message": ended.err[-400:] if broken else "",
        "orphans": ended.orphans,
        "leftovers": ended.leftovers,
    }


def _is_whole(command: Command, left: bytes | None, whole: bytes) -> bool:
    """Whether ``left`` is what an undisturbed command writes; FIS903 may leave out a repair, not a part of the file."""
    return left is not None and (
        left == whole or command.output.endswith(".vmfb") and len(left) > 1000 and left.endswith(whole[-2:])
    )


def _undisturbed(name: str, command: Command) -> tuple[float, bytes]:
    if name not in _healthy:
        with world(command.files) as here:
            ended = here.run(command.words, outputs=command.outputs)
            if ended.status != command.status:
                raise SystemExit(
                    f"{command.line}: exit status {ended.status}, not {command.status}: {ended.err}"
                )
            _healthy[name] = (
                ended.seconds,
                (here.work / command.output).read_bytes() if command.output else b"",
            )
    return _healthy[name]


def _send(
    process: subprocess.Popen,
    here: World,
    number: int,
    at: float,
    aim: str,
    draw: random.Random,
    sent: list[str],
) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(at)
        return  # it was quicker this time
    with suppress(OSError):
        if aim == "group":
            os.killpg(process.pid, number)
        elif aim == "child" and (children := [pid for pid in here.processes() if pid != process.pid]):
            os.kill(draw.choice(children), number)
        else:
            aim = "command"
            os.kill(process.pid, number)
        sent.append(aim)

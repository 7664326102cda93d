"""Poor environments: no space, low limits of the shell, other languages, closed streams, readers that go away."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .commands import COMMANDS
from .results import Row
from .trial import STATUSES, broken_promises, world

NO_SPACE = r"No space left on device|File too large|ulimit -f"
NO_MEMORY = r"memory|ulimit -[vd]|pthread_create|thread"


@dataclass(frozen=True)
class Environment:
    """``shell`` has LINE for the command. ``cause``: what an error has to say; empty where the command has to work.

    ``only``: these commands, each with further words behind a colon; else all. ``signals``: by which the system may end the command itself.
    """

    shell: str = "LINE"
    variables: Mapping[str, str] = field(default_factory=dict)
    cause: str = ""
    only: str = ""
    signals: tuple[int, ...] = ()


def _limit(option: str, value: str, cause: str, signals: tuple[int, ...] = ()) -> Environment:
    return Environment(f"ulimit -{option} {value} && LINE", cause=cause, signals=signals)


ENVIRONMENTS: dict[str, Environment] = {
    **{
        f"file-size-{blocks}": Environment(f"(ulimit -f {blocks} && LINE) 2>&1 | cat; exit ${{PIPESTATUS[0]}}", cause=NO_SPACE)
        for blocks in (0, 1, 4, 16)
    },
    **{f"open-files-{count}": _limit("n", str(count), "Too many open files") for count in (6, 8, 10, 12, 16, 24, 40)},
    **{f"memory-{size >> 10}M": _limit("v", str(size), NO_MEMORY) for size in (200 << 10, 600 << 10, 1500 << 10, 4000 << 10)},
    **{f"data-{size >> 10}M": _limit("d", str(size), NO_MEMORY) for size in (50 << 10, 300 << 10)},
    "processor-time-1": _limit("t", "1", "SIGXCPU|processor time|SIGKILL|killed", (9, 24)),
    "stack-256K": _limit("s", "256", "stack|SIGSEGV|memory"),
    "stack-unlimited": _limit("s", "unlimited", ""),
    "language-C": Environment(variables={"LC_ALL": "C", "LANG": "C"}),
    "language-latin1": Environment(variables={"LC_ALL": "C", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "language-ascii": Environment(variables={"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0"}),
    "almost-no-variables": Environment('env -i PATH="$PATH" TMPDIR="$TMPDIR" FAULT_BENCH_MARK="$FAULT_BENCH_MARK" LINE'),
    "no-temporary-folder": Environment(variables={"TMPDIR": "/no/such/folder"}),
    "output-read-by-nobody": Environment("LINE | true; exit ${PIPESTATUS[0]}"),
    "output-to-a-full-disk": Environment("LINE > /dev/full", cause=NO_SPACE),
    "messages-to-a-full-disk": Environment("LINE 2> /dev/full"),
    "messages-read-by-nobody": Environment("{ LINE 2>&1 >&3 3>&- | true; s=${PIPESTATUS[0]}; } 3>&1; exit $s"),
    **{f"closed-{''.join(streams)}": Environment("LINE " + " ".join(f"{s}{'<' if s == '0' else '>'}&-" for s in streams))
       for streams in (("0",), ("1",), ("2",), ("0", "1"), ("1", "2"), ("0", "1", "2"))},
    "folder-takes-no-files": Environment(
        "chmod 555 .; $([ $(id -u) = 0 ] && echo setpriv --bounding-set -dac_override,-dac_read_search) LINE; s=$?; chmod 755 .; exit $s",
        cause="permission denied|cannot write",
    ),
    "no-room-for-arguments": Environment(
        'for i in $(seq 16); do export FILL_$i="$(head -c 125000 /dev/zero | tr "\\0" x)"; done; '
        'i=0; while /bin/true && [ $i -lt 30 ]; do i=$((i + 1)); export MORE_$i="$(head -c 4000 /dev/zero | tr "\\0" x)"; done 2> /dev/null; '
        'unset MORE_$i MORE_$((i - 1)); LINE',
        cause="Argument list too long",
    ),
    "folder-removed": Environment('d=$(mktemp -d) && cp -r . $d/ 2>/dev/null; cd $d && rm -rf $d && LINE', only="explain,targets"),
    "artifact-to-a-full-disk": Environment("LINE", only="compile:-o /dev/full,opt:-o /dev/full,compile:-o - > /dev/full", cause=NO_SPACE),
    "response-file-of-bytes": Environment("printf '\\377\\376' > ../flags; LINE", only="compile:@../flags", cause="UTF-8"),
    "response-file-missing": Environment("LINE", only="compile:@nosuch", cause="No such file"),
    "baseline-of-bytes": Environment("printf '\\377\\376' > ../base; LINE", only="check:--baseline ../base", cause="not a baseline"),
    "baseline-is-a-device": Environment("LINE", only="check:--baseline /dev/zero", cause="not a regular file"),
    **{
        f"cache-{name}": Environment(f"mkdir -m 700 ../cache && {shell} && LINE", only="compile-repaired,check-baseline,cache,cache:--clear")
        for name, shell in {
            "of-bytes": "printf 'no database' > ../cache/answers.sqlite",
            "is-a-pipe": "mkfifo ../cache/answers.sqlite",
            "is-a-folder": "mkdir ../cache/answers.sqlite",
            "is-a-link": "ln -s /dev/zero ../cache/answers.sqlite",
            "of-others": "chmod 777 ../cache",
        }.items()
    },
}  # fmt: skip


def trials(count: int, seed: int) -> Iterator[str]:
    """``count`` of every environment with every command, shuffled by ``seed``."""
    every = [
        f"{name}/{command}"
        for name, environment in ENVIRONMENTS.items()
        for command in environment.only.split(",")
        if command
    ]
    every += [
        f"{name}/{command}"
        for name, environment in ENVIRONMENTS.items()
        for command in COMMANDS
        if not environment.only
    ]
    random.Random(seed).shuffle(every)
    return iter(every[:count])


def run(trial: str) -> Row:
    """One command in one environment. ``broken``: no answer, or another cause than the true one."""
    name, _, spelled = trial.partition("/")
    environment, (kind, _, more) = ENVIRONMENTS[name], spelled.partition(":")
    command = COMMANDS[kind]
    line = f"{command.line} {more}".strip()
    with world(command.files) as here:
        shell = environment.shell.replace("LINE", line)
        ended = here.run(["bash", "-c", shell], outputs=command.outputs, environment=environment.variables)
        there = bool(command.output) and (here.work / command.output).exists()
    statuses = (*STATUSES, *(-n for n in environment.signals), *(128 + n for n in environment.signals))
    broken = [
        word
        for word in broken_promises(ended, statuses)
        if word != "no message" or "closed" not in name and "messages" not in name
    ]
    printed = ended.err + ended.out
    if ended.status in STATUSES and ended.status != command.status:
        if not environment.cause:
            broken.append("refused")
        elif environment.cause and not re.search(environment.cause, printed, re.IGNORECASE):
            broken.append("another cause")
    if ended.status == 0 and command.output and not more and not there:
        broken.append("exit 0 without its output")
    return {"broken": broken, "line": shell, "status": ended.status, "seconds": round(ended.seconds, 2), "message": printed[-400:] if broken else "",
            "orphans": ended.orphans, "leftovers": ended.leftovers}  # fmt: skip

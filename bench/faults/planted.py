"""Crashes, hangs and memory hogs, in the place of IREE's phases and in a user's pass."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from .commands import ADD, COMMANDS, LLVM_CPU, PASS, PIPELINE
from .results import Row
from .trial import World, broken_promises, world

MEMORY = 3 << 30
"""Bytes that a hog may have; it takes all of it and asks for more."""
HANG, LONG = "2", "600"
"""Seconds of --phase-timeout: for what hangs, and for what has to come to its end first: memory is filled page by page."""
FAULTS = {
    "abort": ("os.abort()", "SIGABRT"),
    "segfault": ("os.kill(os.getpid(), 11)", "SIGSEGV"),
    "exit-0": ("os._exit(0)", "exit status 0|ended"),
    "exit-99": ("os._exit(99)", "exit status 99|ended"),
    "hang-busy": ("exec('while True: pass')", "does not end|did not end|within"),
    "hang-idle": ("__import__('time').sleep(1000)", "does not end|did not end|within"),
    "memory": (f"[bytearray(1 << 28) for _ in range({MEMORY >> 26})]", "[Mm]emory"),
    "sys-exit-0": ("sys.exit(0)", "SystemExit"),
    "base-exception": ("raise BaseException('base')", "BaseException"),
    "recursion": ("(lambda f: f(f))(lambda f: f(f))", "RecursionError"),
    "keyerror": ("{}['key']", "KeyError"),
}
PLACES = {
    "compile": "fissile.pipelines.session",
    "check": "fissile.pipelines.session",
    "reduce": "fissile.pipelines.session",
    "verify": "fissile.pipelines.numerics.signature",
}
"""The module of each command in which a program is handed to IREE; the fault is where IREE would be."""
IN_IREES_PLACE = '''import os, sys
from importlib.machinery import PathFinder

if any("fissile" in word for word in sys.orig_argv):
    class Plant:
        """Puts the fault in the place of IREE's phases, wherever fissile runs them."""
        def find_spec(self, name, path=None, target=None):
            if name != "{module}":
                return None
            sys.meta_path.remove(self)
            found = __import__("importlib.util", fromlist=["util"]).find_spec(name)
            load = found.loader.exec_module
            def exec_module(module):
                load(module)
                real = module.running
                def running(*words, **more):
                    with real(*words, **more):
                        fault()
                module.running = running
            found.loader.exec_module = exec_module
            return found
    def fault():
        {act}
    sys.meta_path.insert(0, Plant())
'''
USERS = {
    "compile": f"fissile compile {LLVM_CPU} in.mlir -o out.vmfb --load-passes=mine.py {PIPELINE}",
    "opt": "fissile-opt in.mlir --load-passes=mine.py --mine-p -o out.mlir",
    "passes": "fissile passes --load-passes=mine.py mine-p",
}
IREES = ("compile", "check", "verify", "reduce")


def trials(count: int, seed: int) -> Iterator[str]:
    """``count`` of all faults in all places, shuffled by ``seed``."""
    every = [f"pass/{command}/{fault}" for fault in FAULTS for command in ("compile", "opt")]
    every += [f"import/{command}/{fault}" for fault in FAULTS for command in USERS]
    every += [f"iree/{command}/{fault}" for fault in FAULTS for command in IREES]
    random.Random(seed).shuffle(every)
    return iter(every[:count])


def run(trial: str) -> Row:
    """One fault in one place. ``broken``: no answer, another cause, a user's file not named, a command that shows nothing."""
    place, command, fault = trial.split("/")
    act, cause = FAULTS[fault]
    line, files = _planted(place, command, act, LONG if fault == "memory" else HANG)
    limit = f"ulimit -v {MEMORY >> 10}; " if fault == "memory" else ""
    environment = {"PYTHONPATH": "plant"} if place == "iree" else {}
    with world(files) as here:
        if place == "iree":
            (here.work / "plant").mkdir()
            (here.work / "plant" / "sitecustomize.py").write_text(
                IN_IREES_PLACE.format(act=act, module=PLACES[command])
            )
        outputs = ["out.vmfb", "out.mlir", "plant"]
        ended = here.run(["bash", "-c", limit + line], outputs=outputs, environment=environment)
        broken = broken_promises(ended)
        output = ended.err + ended.out
        if ended.status == 0:  # stock stands in where the fault is fissile's alone
            if place != "iree" or "FIS903" not in output:
                broken.append("exit 0")
        elif not re.search(cause, output):
            broken.append("another cause")
        if place != "iree" and not re.search(r"mine\.py(:\d+)?", output):
            broken.append("a user's file that is not named")
        if ended.status == 3 and place != "iree" and not broken:
            broken += _again(here, output, limit, ended.status)
    return {
        "broken": broken,
        "line": line,
        "status": ended.status,
        "seconds": round(ended.seconds, 2),
        "message": output[-500:] if broken else "",
    }


def _again(here: World, output: str, limit: str, status: int) -> list[str]:
    """Runs the command that is named: it has to show the same."""
    found = re.search(r"shows it again: (.*)", output)
    if not found:
        return ["no reproducer"]
    again = here.run(["bash", "-c", limit + found[1]], outputs=["out.vmfb", "out.mlir"])
    return [] if again.status == status else [f"a reproducer that ends with {again.status}"]


def _planted(place: str, command: str, act: str, seconds: str) -> tuple[str, dict[str, str]]:
    """The command line, and the files that it reads."""
    limit = f"--phase-timeout={seconds}"
    if place == "iree":
        return f"{COMMANDS[command].line} {limit}", dict(COMMANDS[command].files)
    text = PASS.format(act=act if place == "pass" else "pass")
    if place == "import":
        text = f"import os, sys\n{act}\n{text}"
    return f"{USERS[command]} {limit}", {"in.mlir": ADD, "mine.py": text}

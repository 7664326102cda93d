"""What stock `iree-compile` answers, kept on disk by (program, flags, IREE's version): it is the same in every run.

Only answers are kept, not artifacts: an artifact names the folder that its program is in.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / ".pytest_cache" / "stock"
SECONDS = 400
"""After which a compile without a limit of its own is ended and run once more: IREE's threads sometimes wait for each other for good, without
having used any processor time (3.13, with a tuning spec)."""


def run(
    words: list[str], *, capture_output=False, text=False, timeout=None, check=False, cwd=None
) -> subprocess.CompletedProcess:
    """`subprocess.run` of `iree-compile [flags] INPUT -o OUTPUT`, from the kept answer where it is enough."""
    source, wanted, flags = _parts(words, cwd)
    if source is None:
        done = _ended(words, timeout, cwd, capture_output=capture_output, text=text)
        if check:
            done.check_returncode()
        return done
    kept = _kept(source, flags)
    answer = json.loads(kept.read_text()) if kept.exists() else None
    if answer is None or wanted and answer["status"] == 0:
        done = _ended(words, timeout, cwd, capture_output=True, text=True)
        printed = {
            name: getattr(done, name).replace(str(source), "<SOURCE>") for name in ("stdout", "stderr")
        }
        answer = {"status": done.returncode, **printed}
        fresh = kept.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(answer))
        fresh.replace(kept)
    printed = [answer[stream].replace("<SOURCE>", str(source)) for stream in ("stdout", "stderr")]
    printed = printed if text else [stream.encode() for stream in printed]
    done = subprocess.CompletedProcess(
        words, answer["status"], *(printed if capture_output else (None, None))
    )
    if check:
        done.check_returncode()
    return done


def _ended(
    words: list[str], timeout, cwd, *, capture_output: bool, text: bool
) -> subprocess.CompletedProcess:
    if timeout is not None:
        return subprocess.run(words, capture_output=capture_output, text=text, timeout=timeout, cwd=cwd)
    pipe = subprocess.PIPE if capture_output else None
    for limit in (SECONDS, None):
        # A session of its own: the compiler is a child of the program that is started.
        process = subprocess.Popen(
            words, stdout=pipe, stderr=pipe, text=text, cwd=cwd, start_new_session=limit is not None
        )
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            continue
        return subprocess.CompletedProcess(words, process.returncode, out, err)
    raise AssertionError("the second run has no limit")


def _parts(words: list[str], cwd) -> tuple[Path | None, bool, list[str]]:
    """The input, whether an output is wanted, and the flags. No input where the answer depends on more files."""
    rest, flags, files, output = words[1:], [], [], "-"
    while rest:
        word = rest.pop(0)
        if word == "-o" and rest:
            output = rest.pop(0)
        else:
            (flags if word.startswith("-") else files).append(word)
    source = Path(cwd or ".", files[0]).absolute() if len(files) == 1 else None
    elsewhere = any(
        "/" in flag or "executables-with" in flag for flag in flags
    )  # another file, another program
    if source is None or not source.exists() or output == "-" or elsewhere:
        return None, True, flags
    return source, output != os.devnull, flags


def _kept(source: Path, flags: list[str]) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    key = json.dumps([source.read_bytes().hex(), flags, version("iree-base-compiler")])
    return FOLDER / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

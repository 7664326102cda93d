"""Mutated programs: texts and bytecodes that were valid before a few characters, words, lines or bytes changed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

from .commands import ADD, CONV, GFX942, LLVM_CPU, MATMUL, STORE
from .results import Row
from .trial import broken_promises, world

TEXTS = {"add": ADD, "matmul": MATMUL, "conv": CONV, "store": STORE}
LINES = (
    f"fissile compile {LLVM_CPU} in.mlir -o out.vmfb",
    f"fissile compile {GFX942} --compile-to=executable-configurations in.mlir -o out.vmfb",
    "fissile check in.mlir --target llvm-cpu --probe=never",
    "fissile check in.mlir --target gfx942",
    "fissile-opt in.mlir --pass-pipeline=builtin.module(canonicalize) -o out.mlir",
    f"fissile reduce {LLVM_CPU} in.mlir -o out.mlir",
    "fissile verify in.mlir --on local-task",
)
_WORD = re.compile(r"\w+|[^\w\s]|\s+")
_OWN_FAILURES = ("FIS902", "FIS903")


def trials(count: int, seed: int) -> Iterator[str]:
    return (f"{seed}-{index}" for index in range(count))


def run(trial: str) -> Row:
    """One mutated program through one command. ``broken``: no answer, or fissile's own failure."""
    draw = random.Random(f"mutation:{trial}")
    name = draw.choice(list(TEXTS))
    line = draw.choice(LINES)
    form = draw.choice(("text", "text", "bytecode"))
    data = (
        mutated_text(TEXTS[name], draw).encode(errors="surrogateescape")
        if form == "text"
        else mutated_bytes(_bytecode(name), draw)
    )
    with world({"in.mlir": data}) as here:
        ended = here.run(line.split(), outputs=["out.vmfb", "out.mlir"])
    broken = broken_promises(ended)
    if ended.status == 3:
        broken.append("internal error")
    broken += [code for code in _OWN_FAILURES if f"[{code}]" in ended.err + ended.out]
    row: Row = {
        "broken": broken,
        "line": line,
        "form": form,
        "status": ended.status,
        "seconds": round(ended.seconds, 2),
    }
    return row | (
        {"message": (ended.err + ended.out)[-600:], "input": data.decode("latin-1")} if broken else {}
    )


def mutated_text(text: str, draw: random.Random) -> str:
    """``text`` with one to three changes of words."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        words = _WORD.findall(text)
        at, other = draw.randrange(len(words)), draw.randrange(len(words))
        kind = draw.randrange(8)
        if kind == 0:
            del words[at]
        elif kind == 1:
            words.insert(at, words[other])
        elif kind == 2:
            words[at], words[other] = words[other], words[at]
        elif kind == 3:
            numbers = [i for i, word in enumerate(words) if word.isdigit()]
            words[draw.choice(numbers or [at])] = draw.choice(
                ("0", "1", "-1", "3", "7", "4294967296", "9223372036854775807", "99999999999999999999", "?")
            )
        elif kind == 4:
            words[at] = draw.choice(
                (
                    "f16",
                    "i1",
                    "i4",
                    "bf16",
                    "index",
                    "tensor<",
                    ">",
                    "%",
                    "@",
                    "#",
                    '"',
                    "!",
                    "}",
                    "{",
                    "\0",
                    "\udcff",
                    "vector<",
                )
            )
        elif kind == 5:
            words = words[:at]
        elif kind == 6:
            start, end = sorted((at, min(len(words), at + draw.randrange(1, 40))))
            words[start:start] = words[start:end]
        else:
            types = [i for i, word in enumerate(words) if word in ("f32", "i8", "i32")]
            words[draw.choice(types or [at])] = draw.choice(
                ("f64", "i8", "i64", "f16", "i1", "complex<f32>", "f8E4M3FN", "none")
            )
        text = "".join(words)
    return text


def mutated_bytes(data: bytes, draw: random.Random) -> bytes:
    """``data`` with one to eight changes of bytes; one in ten is cut off as well."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        at = draw.randrange(len(changed))
        kind = draw.randrange(4)
        if kind == 0:
            changed[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            changed[at] = draw.randrange(256)
        elif kind == 2:
            del changed[at : at + draw.randrange(1, 9)]
        else:
            changed[at:at] = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 5)))
        if not changed:
            return b"ML\xefR"
    return bytes(changed) if draw.randrange(10) else bytes(changed[: draw.randrange(len(changed))])


@cache
def _bytecode(name: str) -> bytes:
    with world({"in.mlir": TEXTS[name]}) as here:
        ended = here.run(
            f"fissile compile {LLVM_CPU} --guard=off --compile-to=input --emit-mlir-bytecode in.mlir -o out.mlirbc".split(),
            outputs=["out.mlirbc"],
        )
        if ended.status:
            raise SystemExit(f"no bytecode of {name}: {ended.err}")
        return (here.work / "out.mlirbc").read_bytes()

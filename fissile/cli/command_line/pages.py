"""The commands that print what fissile knows: explain, passes, targets, completion."""

from __future__ import annotations

from fissile.option import Argument, Option
from fissile.shared_options import (
    LIMITS,
    LOAD_PASSES,
)

from .declaration import Command, Example

EXPLAIN = Command(
    "explain",
    "fissile.cli.commands.explain",
    "print the manual page of a finding",
    arguments=(
        Argument("CODE", "FIS101, or the name of a rule; default: list all rules", count="*", default=[]),
    ),
    options=(
        (
            "other pages",
            (
                Option("strategies", "print the table of repairs in the order in which they are tried"),
                Option("json-schema", "print the JSON Schema (2020-12) of --format=json"),
            ),
        ),
        ("rules of your own passes", (LOAD_PASSES,)),
    ),
    examples=(
        Example("fissile explain", "all rules, one per line"),
        Example("fissile explain FIS101", "one rule, by its code"),
        Example("fissile explain workgroup-memory", "one rule, by its name"),
        Example("fissile explain --strategies", "which repairs are tried for which rule"),
    ),
)
PASSES = Command(
    "passes",
    "fissile.cli.commands.passes",
    "list the passes, with their options and contracts",
    arguments=(Argument("NAME", "print the manual page of this pass", count="?", default=""),),
    options=(("passes of your own", (LOAD_PASSES,)), ("limits", LIMITS)),
    examples=(
        Example("fissile passes", "all passes, one per line"),
        Example("fissile passes fissile-place-boundaries", "one pass, with its options and contract"),
    ),
)
TARGETS = Command(
    "targets",
    "fissile.cli.commands.targets",
    "list the targets, with the source of each limit",
    arguments=(Argument("NAME", "show these only", count="*", default=[]),),
    options=(
        (
            "output",
            (
                Option(
                    "format", "a table, or JSON with every figure", choices=("text", "json"), default="text"
                ),
            ),
        ),
    ),
    examples=(
        Example("fissile targets", "all targets, one per line"),
        Example("fissile targets gfx942 vulkan --format=json", "two targets, with every figure"),
    ),
)
SUPPORT = Command(
    "support",
    "fissile.cli.commands.support",
    "measure which ops and element types a target supports, with small programs",
    options=(
        (
            "what is measured",
            (
                Option("target", "gfx942, vulkan, llvm-cpu, …; may be repeated", value="NAME", repeated=True),
                Option("op", "only this op (linalg.matmul); may be repeated", value="NAME", repeated=True),
                Option(
                    "element", "only this element type (bf16); may be repeated", value="TYPE", repeated=True
                ),
                Option("again", "measure again what was measured before"),
            ),
        ),
        (
            "output",
            (
                Option(
                    "format",
                    "a table as text or Markdown, or JSON with stock IREE's messages",
                    choices=("text", "markdown", "json"),
                    default="text",
                ),
            ),
        ),
        ("limits", LIMITS),
    ),
    examples=(
        Example("fissile support --target llvm-cpu", "all ops; takes minutes the first time"),
        Example("fissile support --target vulkan --target gfx942 --op linalg.matmul", "one op, two targets"),
        Example("fissile support --target gfx942 --element bf16 --format=json", "one type, with the reasons"),
    ),
    description="For each entry, stock IREE compiles a small program; if it rejects the program, fissile compiles it. If a runtime for the target is "
    "available, the program runs and is compared with NumPy. Results are kept for the installed versions of IREE and fissile; --again "
    "measures them again, FISSILE_CACHE=off keeps nothing. "
    "`right`: it compiles and computes the right numbers; `yes`: it compiles; `wrong`: it compiles and computes wrong numbers; `fissile`: only "
    "fissile compiles it; `no`: neither does; `right (f32)`: IREE changes the function to that type.",
)
REPORT = Command(
    "report",
    "fissile.cli.commands.report",
    "turn a JSON report into an HTML page that works offline",
    arguments=(Argument("RESULTS", "a report that --format=json wrote"),),
    options=(
        (
            "output",
            (
                Option(
                    "output",
                    "the page (default: RESULTS.html); '-' is standard output",
                    value="FILE.html",
                    short="o",
                ),
            ),
        ),
    ),
    examples=(Example("fissile report results.json -o results.html", "the report of a CI run"),),
)
CACHE = Command(
    "cache",
    "fissile.cli.commands.cache",
    "show or clear the answers of earlier runs",
    options=(
        (
            "what to do",
            (
                Option("clear", "remove all answers"),
                Option("path", "print only the name of the file"),
            ),
        ),
    ),
    examples=(
        Example("fissile cache", "the file and its size"),
        Example("fissile cache --clear", "remove all answers"),
    ),
    description="fissile keeps the reports of checks and of repaired or rejected programs, repaired modules, and the dispatches whose code "
    "generation exceeded its time limit. The key is the program's content, the flags and the versions of IREE and fissile. FISSILE_CACHE=off "
    "keeps nothing; FISSILE_CACHE=FOLDER selects another folder.",
)
COMPLETION = Command(
    "completion",
    "fissile.cli.commands.completion",
    "print the completion script for a shell",
    arguments=(Argument("SHELL", "bash, zsh or fish", choices=("bash", "zsh", "fish")),),
    examples=(
        Example("source <(fissile completion bash)", "bash and zsh, in ~/.bashrc or ~/.zshrc"),
        Example("fissile completion fish > fissile.fish", "fish, in ~/.config/fish/completions"),
    ),
)

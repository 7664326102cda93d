"""Options that several commands have."""

from __future__ import annotations

from fissile.option import Option

FORMATS = ("text", "json", "sarif", "github")

REPORT = (
    Option(
        "format",
        "the report for a person (default), as JSON, as SARIF 2.1.0, or as annotations of GitHub Actions",
        choices=FORMATS,
        default="text",
    ),
    Option(
        "report-file",
        "write the report in --format to FILE, whole or not at all, and print the text as well",
        value="FILE",
        default="",
    ),
)

NO_CACHE = Option("no-cache", "take no answer of an earlier run, and keep none (`fissile cache`)")

PAGE = Option(
    "report",
    "write the report as one HTML page that works offline: verdict, dispatches, bytes against limits, repairs",
    value="FILE.html",
    default="",
    field="page",
)

LIMITS = (
    Option(
        "memory-limit",
        "memory of each process that the command starts, 8G for example (default: the machine's)",
        value="SIZE",
    ),
    Option(
        "phase-timeout",
        "processor time of one step (the parse, a phase of IREE's, a pass of yours) after which it counts as endless "
        "(default 600, and 10 more for each MiB of the input; 0: none)",
        value="SECONDS",
    ),
)
"""Every command takes them; `fissile.pipelines.process.limits` reads them before a command sees its words."""

VOICE = (
    Option("quiet", "print errors and warnings only", short="q"),
    Option(
        "verbose",
        "print more: IREE's own messages, passes, the time of each step",
        short="v",
        aliases=("fissile-verbose",),
    ),
)

DISPATCH_TIMEOUT = Option(
    "dispatch-timeout",
    "code generation of one dispatch that takes longer counts as endless (default 30; 0: none)",
    value="SECONDS",
    kind=float,
    default=30.0,
)

ALLOW_PIPELINES = Option(
    "allow-pipelines-in-input",
    "run pass pipelines and native code that the input brings along (FIS005, FIS006); only for input that you trust",
    field="allow_pipelines",
)

LOAD_PASSES = Option(
    "load-passes",
    "load passes of your own; may be repeated",
    value="FILE.py",
    repeated=True,
    aliases=("fissile-load-passes",),
)

STRICT = Option("strict", "what could not be checked (FIS902, FIS903) is exit status 3 and no output")

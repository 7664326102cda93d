"""A report as one self-contained HTML page: no script, nothing loaded, everything that an input says escaped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from fissile.rules import RULES
from fissile.rules.rule import Rule
from fissile.shown_text import shown

from ..untrusted_text import SourceLines
from .bars import FIRST_SHOWN, HEIGHT, WIDTH, Bar, Timeline, ledger_bars, target_bars, timeline
from .layout import BOX_WIDTH, HEAD, LINE, Drawing, draw

WORDS = {"error": "error", "repaired": "repaired", "warning": "warning", "note": "note"}


@dataclass(frozen=True)
class TargetPart:
    """One target of a check: its numbers, its dispatches as bars, its memory over time, and the drawing of its dispatches."""

    name: str
    limit: int
    per: str
    source: str
    count: int
    fitting: int
    unknown: int
    largest: int | None
    share: float
    errors: int
    bars: tuple[Bar, ...]
    memory: tuple[Timeline, ...]
    drawing: Drawing | None


def page(document: Mapping[str, Any], source: SourceLines | None = None, title: str = "") -> str:
    """The page of one report, given as `--format=json` writes it. Lines of ``source`` are quoted; ``title`` names the program."""
    findings = list(document["findings"])
    facts = document["facts"]
    targets = [_target(one, findings) for one in facts.get("targets", [])]
    lines = source or SourceLines()
    return _template().render(
        document=document,
        title=title or _subject(document),
        verdict=_verdict(document, findings),
        way_out=_way_out(document, findings),
        findings=[_finding(one, lines) for one in findings],
        rules=_rules(findings),
        counts=[(word, sum(f["severity"] == word for f in findings)) for word in WORDS],
        targets=targets,
        matrix=_matrix(facts.get("targets", [])),
        drawings=_repair_drawings(facts.get("graph"), findings),
        certificate=facts.get("certificate"),
        contract={name: rows for name, rows in facts.get("contract", {}).items() if rows},
        first_shown=FIRST_SHOWN,
        box=(BOX_WIDTH, HEAD, LINE),
        chart=(WIDTH, HEIGHT),
    )


@cache
def _template() -> jinja2.Template:
    folder = Path(__file__).parent
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["bytes"] = _count
    environment.filters["prose"] = _prose
    environment.globals["style"] = Markup((folder / "page.css").read_text(encoding="utf-8"))
    return environment.get_template("page.html.j2")


def _printable(value: Any) -> Any:
    """Control characters and marks of text direction are spelled out, as in a terminal; escaping follows."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return "\n".join(shown(line) for line in value.split("\n"))
    return value


def _count(value: int | None) -> Markup:
    """Digits in groups of three, with a narrow space between them."""
    return Markup("unknown" if value is None else f"{value:,}".replace(",", "&#8239;"))


def _prose(sentence: str) -> Markup:
    """A sentence with what stands between backticks as code; all of it escaped."""
    parts = str(_printable(sentence)).split("`")
    if len(parts) % 2 == 0:
        return escape("`".join(parts))
    pieces = (
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts)
    )
    return Markup("").join(pieces)


def _subject(document: Mapping[str, Any]) -> str:
    places = [place["file"] for finding in document["findings"] for place in finding["places"][:1]]
    return places[0] if places else document["output"] or ""


def _verdict(document: Mapping[str, Any], findings: list[Mapping]) -> tuple[str, str]:
    """A class for the colour, and the sentence."""
    errors = sum(one["severity"] == "error" for one in findings)
    repaired = sum(one["severity"] == "repaired" for one in findings)
    warnings = sum(one["severity"] == "warning" for one in findings)
    certificate = document["facts"].get("certificate")
    if errors:
        return "error", f"{errors} error{'s' if errors > 1 else ''} remain{'s' if errors == 1 else ''}"
    if document["command"] == "verify" and certificate:
        return ("clean" if certificate["agrees"] else "error"), certificate["sentence"]
    if repaired:
        return "repaired", f"{repaired} finding{'s' if repaired > 1 else ''} repaired, no error remains"
    if warnings:
        return "warning", f"{warnings} warning{'s' if warnings > 1 else ''}, no error"
    return "clean", "no findings"


def _way_out(document: Mapping[str, Any], findings: list[Mapping]) -> str:
    """Under the verdict of a check: for how many errors a repair is known."""
    errors = [one for one in findings if one["severity"] == "error"]
    helped = sum(bool(one["helps"]) for one in errors)
    if document["command"] != "check" or not helped:
        return ""
    which = "it" if len(errors) == 1 else "all of them" if helped == len(errors) else f"{helped} of them"
    return f"Stock IREE fails on this program. `fissile compile` can repair {which}: see the findings."


def _rules(findings: list[Mapping]) -> list[Rule]:
    """The manual page of each code, once, in the order of the codes."""
    return [RULES[code] for code in sorted({one["code"] for one in findings}) if code in RULES]


def _finding(finding: Mapping, lines: SourceLines) -> dict[str, Any]:
    rule = RULES[finding["code"]] if finding["code"] in RULES else None
    places = [
        {
            **place,
            "text": lines.line(place["file"], place["line"]).strip(),
            "name": "" if place["name"] and place["name"] in place["label"] else place["name"],
        }
        for place in finding["places"]
    ]
    total = finding["ledger"]["total"]["value"] if finding["ledger"] else None
    ledger = [
        {
            "bytes": row["bytes"]["value"],
            "share": 100 * (row["bytes"]["value"] or 0) / total if total else 0,
            "value": row["value"],
            "reason": row["reason"],
        }
        for row in (finding["ledger"]["lines"] if finding["ledger"] else ())
    ]
    return {
        **finding,
        "title": rule.title if rule else "",
        "places": places,
        "rows": ledger,
        "bars": ledger_bars(finding),
    }


def _target(target: Mapping, findings: list[Mapping]) -> TargetPart:
    rows = target["dispatches"]
    sizes = [row["bytes"] for row in rows if row["bytes"] is not None]
    graph = target.get("graph")
    wrong = {row["name"] for row in rows if row["fits"] is False}
    drawing = None
    if graph:
        names = [one["name"] for one in graph["dispatches"]]
        failing = [number for number, name in enumerate(names) if name in wrong]
        groups = [one["ops"] for one in graph["dispatches"]]
        drawing = draw(f"dispatches on {target['name']}", graph["ops"], groups, failing, (), names)
    return TargetPart(
        target["name"],
        target["limit"],
        target["per"],
        target["source"],
        len(rows),
        sum(row["fits"] is True for row in rows),
        sum(row["fits"] is None for row in rows),
        max(sizes, default=None),
        100 * max(sizes, default=0) / target["limit"],
        sum(f["severity"] == "error" and f["target"] == target["name"] for f in findings),
        tuple(target_bars(target)),
        tuple(_timelines(target.get("memory", []))),
        drawing,
    )


def _timelines(functions: list[Mapping]) -> list[Timeline]:
    """One for each function; those with the same memory are named together, as a function and its asynchronous form are."""
    found: list[tuple[Timeline, list[str]]] = []
    for one in functions:
        line = timeline({**one, "function": ""})
        alike = next((names for other, names in found if other == line), None)
        if alike is None:
            found.append((line, [one["function"]]))
        else:
            alike.append(one["function"])
    return [replace(line, function=", ".join(names)) for line, names in found]


def _matrix(targets: list[Mapping]) -> list[tuple[str, list[Mapping | None]]]:
    """Dispatches by their place in the source, with what each target makes of them; the largest first."""
    if len(targets) < 2:
        return []
    rows: dict[str, list[Mapping | None]] = {}
    for number, target in enumerate(targets):
        for dispatch in target["dispatches"]:
            key = dispatch["place"] or dispatch["name"]
            row = rows.setdefault(key, [None] * len(targets))
            known = row[number]
            if known is None or (dispatch["bytes"] or 0) > (known["bytes"] or 0):
                row[number] = dispatch
    return sorted(rows.items(), key=lambda row: -max((one["bytes"] or 0) if one else 0 for one in row[1]))


def _repair_drawings(graph: Mapping | None, findings: list[Mapping]) -> list[Drawing]:
    """The program before and after its repair."""
    if not graph:
        return []
    failing = set(graph["failing"])
    before = draw("before", graph["ops"], graph["before"], failing)
    if not graph["after"]:
        return [before]
    return [before, draw("after", graph["ops"], graph["after"], (), graph["boundaries"])]

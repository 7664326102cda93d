"""What a sweep found: a file of JSON lines, and the table made of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One target: how many models stock IREE and fissile compile, and how good the audit's word was.

    ``fissile`` is None where that was not run for all. ``foreseen`` failures were named by op before code generation; ``missed`` were not; ``false_alarms`` compile all the same.
    """

    target: str
    models: int
    stock: int
    fissile: int | None
    foreseen: int
    missed: int
    false_alarms: int

    @property
    def precision(self) -> float:
        return self.foreseen / max(1, self.foreseen + self.false_alarms)

    @property
    def recall(self) -> float:
        return self.foreseen / max(1, self.foreseen + self.missed)


def read(file: Path) -> dict[tuple[str, str], dict]:
    """(model, target) -> its result."""
    found = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        result = json.loads(line)
        found[result["model"], result["target"]] = result
    return found


def rows(results: dict[tuple[str, str], dict]) -> list[Row]:
    made = []
    for target in dict.fromkeys(target for _model, target in results):
        mine = [r for (_model, t), r in results.items() if t == target and r["stock"] != "not imported"]
        fails = [r for r in mine if r["stock"] != "compiles"]
        made.append(
            Row(
                target,
                len(mine),
                len(mine) - len(fails),
                None
                if any("fissile" not in r for r in fails)
                else sum(r["stock"] == "compiles" or r.get("fissile") == "compiles" for r in mine),
                sum(bool(r["audit"]) for r in fails),
                sum(not r["audit"] for r in fails),
                sum(bool(r["audit"]) for r in mine if r["stock"] == "compiles"),
            )
        )
    return made


def misses(results: dict[tuple[str, str], dict]) -> str:
    """One line for each program whose op the audit did not name, and for each that it named and IREE compiles."""
    lines = []
    for (model, target), r in results.items():
        if r["stock"] != "not imported" and (r["stock"] == "compiles") == bool(r["audit"]):
            lines.append(
                f"{model} {target}: {r['stock']}; {r['audit']} {r['codes']} {r['findings']} {r['message']}"
            )
    return "".join(f"{line}\n" for line in lines)


def markdown(results: dict[tuple[str, str], dict]) -> str:
    """The table, and the ops that fissile does not get in either."""
    table = rows(results)
    ran = any(row.fissile is not None for row in table)  # `--fissile` is a run of its own
    columns = ["target", "models", "stock compiles", *(["fissile compiles"] if ran else []),
               "rejected, op named by the audit", "rejected, no op named", "named, but compiles", "precision", "recall"]  # fmt: skip
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    for row in table:
        own = ["not run" if row.fissile is None else row.fissile] if ran else []
        cells = [row.target, row.models, row.stock, *own, row.foreseen, row.missed, row.false_alarms,
                 f"{row.precision:.3f}", f"{row.recall:.3f}"]  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    refused = {model for (model, _target), r in results.items() if r["stock"] == "not imported"}
    tried = {model for model, _target in results}
    lines += [
        "",
        f"{len(tried)} were tried; {len(refused)} of them have no program, because the importer does not accept them.",
    ]
    left = Counter(
        op
        for r in results.values()
        if r["stock"] not in ("compiles", "not imported") and r.get("fissile", "compiles") != "compiles"
        for op in set(r["audit"])
    )
    if left:
        lines += ["", "Ops that neither compiles, by number of model and target:", ""]
        lines.append(", ".join(f"{op} {count}" for op, count in left.most_common(40)))
    return "\n".join(lines) + "\n"

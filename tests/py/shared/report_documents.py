"""Reports as JSON values, of any size, for tests of what renders them: the same each time."""

from __future__ import annotations

from fissile import wire
from fissile.finding import Finding, Help, Ledger, LedgerLine, Limit, Place, Severity
from fissile.quantity import Bytes

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>\u202e\x1b[31m&amp;"
"""What a program may call a file, a tensor or a function."""


def repaired_finding(name: str = "%xd", file: str = "model.mlir") -> Finding:
    """FIS101 with a ledger and a repair."""
    ledger = Ledger.of(
        [
            LedgerLine(Bytes.exact(861184), f"{name} 64x58x58xf32", "whole tensor, no tile reaches it"),
            LedgerLine(Bytes.exact(32768), "%wd 128x64xf32", "tile"),
            LedgerLine(Bytes.exact(16384), "%conv 64x1x64xf32", "tile"),
        ]
    )
    facts = (
        ("after", "50688 bytes (predicted; IREE chose its tiles anew)"),
        ("costs", "1 more dispatch in the module; 861184 bytes written once"),
        ("numerics", "bit-identical on llvm-cpu"),
        ("pass", "fissile-place-boundaries{ops=0}"),
    )
    return Finding(
        "FIS101",
        "dispatch needs 910336 bytes of workgroup memory; gfx942 has 65536",
        Severity.REPAIRED,
        subject="main_dispatch_0",
        target="gfx942",
        places=(Place(file, 2, 3, "fused into the dispatch"), Place(file, 3, 3, "root of the dispatch")),
        ledger=ledger,
        limit=Limit(65536, "workgroup", "IREE's target table"),
        helps=(Help(f"computed {name} in a separate dispatch", "fissile-place-boundaries", True, facts),),
        notes=("a smaller tile cannot fix this",),
    )


def compile_document(finding: Finding | None = None) -> dict:
    """A compile that repaired one dispatch, with the drawing of its program."""
    ops = [
        {"name": "%xd", "op": "linalg.generic", "type": "64xf32", "place": "model.mlir:2:3", "feeds": [1]},
        {"name": "%conv", "op": "linalg.conv", "type": "64xf32", "place": "model.mlir:3:3", "feeds": [2]},
        {"name": "%q", "op": "linalg.generic", "type": "64xi8", "place": "model.mlir:4:3", "feeds": []},
    ]
    graph = {"ops": ops, "before": [[1, 0, 2]], "after": [[0], [1, 2]], "failing": [0], "boundaries": [0]}
    return _document("compile", [finding or repaired_finding()], {"graph": graph}, "model.vmfb")


def check_document(dispatches: int, targets: int = 2, name: str = "%t") -> dict:
    """A check of a program with so many dispatches, of sizes around the limits."""
    made = [_target(f"target{number}", 16384 << number, dispatches, name) for number in range(targets)]
    return _document("check", [], {"targets": made, "contract": {"main": ["%n <= 10"]}})


def verify_document(agrees: bool = True) -> dict:
    check = {
        "program": "model.mlir",
        "runtime": "vulkan (llvmpipe)",
        "seed": 0,
        "against": "model.mlir on local-task",
        "agrees": agrees,
        "sentence": "vulkan: agrees with model.mlir on local-task: bit-identical",
        "outputs": [],
        "finding": None,
    }
    certificate = {
        "subject": "model.mlir",
        "agrees": agrees,
        "bit_identical": agrees,
        "sentence": "bit-identical on vulkan" if agrees else "vulkan: differs from model.mlir",
        "checks": [check],
        "skipped": ["cuda: no device"],
    }
    findings = [] if agrees else [Finding("FIS130", "vulkan: differs", Severity.ERROR, "model.mlir")]
    return _document("verify", findings, {"certificate": certificate})


def _target(name: str, limit: int, count: int, tensor: str) -> dict:
    rows = [_dispatch(number, limit, tensor) for number in range(count)]
    ops = [
        {
            "name": f"{tensor}{number}",
            "op": "linalg.generic",
            "type": "64xf32",
            "place": f"model.mlir:{number + 2}:3",
            "feeds": sorted({user for user in (number + 1, number + 7) if user < 2 * count}),
        }
        for number in range(2 * count)
    ]
    live = [
        {"at": "", "op": "stream.cmd.execute", "live": 4096 * (1 + step % 9), "needed": 2048}
        for step in range(40)
    ]
    alive = [{"bytes": 4096, "tensors": [tensor], "needed": True, "at": ""}]
    memory = {"function": "main", "complete": True, "peak": 36864, "bound": 2048, "at": "", "alive": alive}
    return {
        "name": name,
        "limit": limit,
        "per": "workgroup",
        "source": "IREE's target table",
        "dispatches": rows,
        "memory": [memory | {"over_time": live}],
        "graph": {
            "ops": ops,
            "dispatches": [{"name": rows[n]["name"], "ops": [2 * n, 2 * n + 1]} for n in range(count)],
        },
    }


def _dispatch(number: int, limit: int, tensor: str) -> dict:
    sizes = [limit // 8 * (1 + (number + part) % 5) for part in range(1 + number % 4)]
    buffers = [
        {
            "bytes": size,
            "value": f"{tensor}{part}",
            "reason": "tile",
            "scales_with_tile": True,
            "formula": None,
        }
        for part, size in enumerate(sizes)
    ]
    return {
        "name": f"main_dispatch_{number}_conv_64x56x56",
        "codegen": "TileAndFuse",
        "place": f"model.mlir:{2 * number + 2}:3",
        "bytes": sum(sizes),
        "certainty": "exact",
        "formula": None,
        "largest": {},
        "fits": sum(sizes) <= limit,
        "code_generated": True,
        "doubts": [],
        "buffers": buffers,
    }


def _document(command: str, findings: list[Finding], facts: dict, output: str = "") -> dict:
    return {
        "schema": 1,
        "fissile": "0.1.0",
        "iree": "3.13.0",
        "command": command,
        "exit_code": int(any(f.severity is Severity.ERROR for f in findings)),
        "output": output,
        "findings": wire.plain(findings),
        "messages": [],
        "seconds": {"parse": 0.02},
        "facts": facts,
    }

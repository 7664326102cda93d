"""How many storage obligations are proved, and by which tier.

    python -m bench.storage.storage_proved [FILE.mlir ...] [--light] [--networks]

FILE is any program that iree-compile takes. --light adds ONNX's reference networks, as the `onnx`
package ships them, imported with iree-import-onnx, --networks those of `bench/programs/onnx_blocks.py`, as they are and of token ids.
What remains is counted with z3 and without. Exit status: 0 where at least 90% are proved, 1
where not.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.pipelines.compile.hooks.guard import GUARDED_AT
from fissile.pipelines.session import Session
from fissile.verdict import Answer

FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
WANTED = 0.9


def light_models(folder: Path) -> list[Path]:
    """ONNX's reference networks as MLIR files in ``folder``."""
    data = Path(find_spec("onnx").submodule_search_locations[0], "backend", "test", "data", "light")
    importer = Path(sys.executable).with_name("iree-import-onnx")
    found = []
    for model in sorted(data.glob("light_*.onnx")):
        found.append(folder / f"{model.stem}.mlir")
        subprocess.run(
            [importer, model, "--opset-version", "17", "-o", found[-1]], check=True, capture_output=True
        )
    return found


def networks(folder: Path) -> list[Path]:
    """The networks of the bench as MLIR files in ``folder``: in fp32 as they are, and those of token ids."""
    import onnx

    from bench.programs.onnx_blocks import BLOCKS
    from bench.storage.token_networks import NETWORKS, imported

    importer = Path(sys.executable).with_name("iree-import-onnx")
    found = []
    for name, build in BLOCKS.items():
        onnx.save(build(0), folder / f"{name}.onnx")
        found.append(folder / f"{name}.mlir")
        subprocess.run([importer, folder / f"{name}.onnx", "-o", found[-1]], check=True, capture_output=True)
    (tokens := folder / "tokens").mkdir()
    for name in NETWORKS:
        imported(name, tokens)
        found.append(tokens / f"{name}.mlir")
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--light", action="store_true", help="ONNX's reference networks too")
    parser.add_argument(
        "--networks", action="store_true", help="the networks of bench/programs/onnx_blocks.py too"
    )
    chosen = parser.parse_args(argv)
    totals: Counter[str] = Counter()
    seconds, programs, totals_without = 0.0, 0, 0
    with Session(FLAGS) as session, tempfile.TemporaryDirectory() as folder:
        files = [*chosen.files, *(light_models(Path(folder)) if chosen.light else [])]
        for file in [*files, *(networks(Path(folder)) if chosen.networks else [])]:
            module = session.run(session.parse(file), GUARDED_AT)
            started = time.perf_counter()
            report = judge_storage(module.op)
            seconds, programs = seconds + time.perf_counter() - started, programs + 1
            plain = judge_storage(module.op, smt_timeout_ms=0)
            totals_without += len(plain.having(Answer.UNKNOWN))
            proved = report.tiers()
            totals.update({f"proved by {tier}": count for tier, count in proved.items()})
            totals.update(
                {"refuted": len(report.having(Answer.REFUTED)), "unknown": len(report.having(Answer.UNKNOWN))}
            )
            for judged in report.judged:
                if judged.answer is not Answer.PROVED:
                    print(f"{file.name}: {judged.answer.value}: {judged.sentence}")
    every = sum(totals.values())
    share = 1 - (totals["unknown"] + totals["refuted"]) / max(every, 1)
    print(f"{programs} programs, {every} obligations, {share:.2%} proved, {seconds:.2f} s to decide them")
    for what, count in sorted(totals.items()):
        print(f"  {what:<22} {count}")
    print(f"  {'unknown without z3':<22} {totals_without}")
    return 0 if share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())

"""Processor time of an attention with a head dimension above 128 on llvm-cpu: decomposed, and by tiles that leave the head whole.

    python -m bench.speed.attention_forms            # batch 2, 128 rows and keys, head and width 256
    python -m bench.speed.attention_forms 2 64 512   # batch, rows, head

Each form is right to 1e-5 of the largest output, or the error stands there. Runs are taken in turns; the least counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import iree.runtime
import numpy as np

from bench.programs.text.spelling import spelled

BIN = Path(sys.executable).parent
CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
)
TILES = ((4, 4), (2, 8), (1, 16), (8, 2))
"""Rows and keys of a tile."""


def attention(batch: int, rows: int, head: int, tile: tuple[int, int] | None = None) -> str:
    kind = f"tensor<{batch}x{rows}x{head}xf32>"
    given = ""
    if tile:
        given = (
            f"{{compilation_info = #iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = [1, 16, 0, 0, 64], "
            f"vector_common_parallel = [1, {tile[0]}, 0, 0, 16], vector_reduction = [0, 0, 0, {tile[1]}, 0]>, translation_info = "
            f"#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<LinalgExtTileAndVectorize>>>}}"
        )
    maps = ", ".join(
        f"affine_map<(b, m, k, l, n) -> ({to})>" for to in ("b, m, k", "b, l, k", "b, l, n", "", "b, m, n")
    )
    return spelled(f"""
func.func @main(%q: {kind}, %k: {kind}, %v: {kind}) -> {kind} {{
  %e = tensor.empty() : {kind}
  %scale = arith.constant {head**-0.5:.8f} : f32
  %r = iree_linalg_ext.attention <indexing_maps = [{maps}]> {given} ins(%q, %k, %v, %scale : {kind}, {kind}, {kind}, f32) outs(%e : {kind}) {{
  ^bb0(%x: f32):
    iree_linalg_ext.yield %x : f32
  }} -> {kind}
  return %r : {kind}
}}
""")


def main() -> None:
    batch, rows, head = map(int, sys.argv[1:4]) if len(sys.argv) > 3 else (2, 128, 256)
    r = np.random.default_rng(0)
    q, k, v = (r.standard_normal((batch, rows, head)).astype(np.float32) for _ in range(3))
    scores = np.einsum("bmk,blk->bml", q.astype(np.float64), k) * head**-0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    exact = np.einsum("bml,bln->bmn", powers / powers.sum(axis=-1, keepdims=True), v)
    forms = {
        "stock": ("iree-compile", None),
        "decomposed": ("fissile", None),
        **{f"tiles of {t}": ("iree-compile", t) for t in TILES},
    }
    programs = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (tool, tile) in forms.items():
            source, output = Path(folder, "in.mlir"), Path(folder, f"{len(programs)}.vmfb")
            source.write_text(attention(batch, rows, head, tile))
            command = [BIN / tool, *(["compile"] if tool == "fissile" else []), *CPU, source, "-o", output]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                print(f"{name:16} refused: {done.stderr.split('error: ', 1)[-1].splitlines()[0][:80]}")
                continue
            programs[name] = iree.runtime.load_vm_flatbuffer_file(str(output), driver="local-sync")
        least: dict[str, float] = {}
        for _turn in range(6):
            for name, program in programs.items():
                begin = time.process_time()
                got = program.main(q, k, v).to_host()
                least[name] = min(least.get(name, 1e9), time.process_time() - begin)
                error = np.abs(got - exact).max() / np.abs(exact).max()
                forms[name] = (forms[name][0], error)
    for name, seconds in least.items():
        print(f"{name:16} {seconds * 1e3:8.2f} ms, error {forms[name][1]:.1e}")


if __name__ == "__main__":
    main()

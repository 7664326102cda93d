"""Tiles beside IREE's own: which are tried, which are taken, and that the spec of the winner is what the dispatch gets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from programs import run_program
from small_programs import TARGETS, quantised_conv

from fissile.passes.iree.lowerings import neighbours
from fissile.passes.iree.tuning_specs import SPEC_ATTRIBUTE, Entry, attach_spec, detach_spec
from fissile.pipelines.compile.emitted_spec import tuned_spec
from fissile.pipelines.session import Session
from fissile.pipelines.tune.tiles import OWN, TOGETHER, Tiling, in_effect, search_tilings, spec_of, tilings
from fissile.pipelines.tune.timing import Timed

BIN = Path(sys.executable).parent
MATMUL = """func.func @f(%x: tensor<128x256xf32>, %w: tensor<256x512xf32>) -> tensor<128x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x512xf32>) -> tensor<128x512xf32>
  %r = linalg.matmul ins(%x, %w : tensor<128x256xf32>, tensor<256x512xf32>)
      outs(%f : tensor<128x512xf32>) -> tensor<128x512xf32>
  return %r : tensor<128x512xf32>
}
"""

# --- which are tried

TWO_PARALLEL = (True, True, False)
EXTENTS = (128, 512, 256)


def test_a_workgroup_keeps_its_threads_where_they_have_tiles_of_their_own():
    own = "#iree_codegen.lowering_config<tile_sizes = [[16, 256], [8, 8], [0, 0, 4]]>"
    found = {(loop, size): config for loop, size, config in neighbours(own, TWO_PARALLEL, EXTENTS)}
    assert sorted(found) == [(0, 8), (0, 32), (1, 128), (1, 512)]
    assert found[0, 8] == "#iree_codegen.lowering_config<tile_sizes = [[8, 256], [4, 8], [0, 0, 4]]>"
    assert found[1, 512] == "#iree_codegen.lowering_config<tile_sizes = [[16, 512], [8, 16], [0, 0, 4]]>"


def test_a_tile_is_filled_by_vectors_and_divides_its_loop():
    own = "#iree_cpu.lowering_config<distribution = [16, 64, 0], vector_common_parallel = [16, 16, 0], vector_reduction = [0, 0, 4]>"
    found = [(loop, size) for loop, size, _ in neighbours(own, TWO_PARALLEL, (48, 64, 256))]
    assert found == [(1, 32)]  # 8 is no whole vector, 32 does not divide 48, 128 is more than there is
    assert not list(neighbours(own, TWO_PARALLEL, (None, None, 256)))
    assert not list(neighbours("#iree_codegen.lowering_config<>", TWO_PARALLEL, EXTENTS))


def test_what_is_padded_to_the_tile_stays_so():
    own = (
        "#iree_gpu.lowering_config<{padding = [64, 128, 16], promote_operands = [0, 1], reduction = [0, 0, 4], "
        "subgroup = [2, 4, 0], workgroup = [64, 128, 0]}>"
    )
    configs = {(loop, size): config for loop, size, config in neighbours(own, TWO_PARALLEL, EXTENTS)}
    assert "padding = [32, 128, 16]" in configs[0, 32] and "promote_operands = [0, 1]" in configs[0, 32]
    assert "subgroup = [1, 4, 0], workgroup = [32, 128, 0]" in configs[0, 32]


# --- which are taken

FIRST, SECOND, OTHER = (
    Tiling(name, name, Entry(None, "", name), root)
    for name, root in (("first", 0), ("second", 0), ("other", 1))
)


def taken(**seconds):
    """The names of the tilings taken, by a table of seconds; one without seconds does not compile."""
    known = {{"own": OWN, "both": TOGETHER}.get(name, name): value for name, value in seconds.items()}

    def build(rows):
        return [(name, name) for name, _ in rows if name in known]

    def time(programs):
        return sorted((Timed(name, known[name]) for name, _ in programs), key=lambda row: row.seconds)

    return [one.name for one in search_tilings([FIRST, SECOND, OTHER], build, time)[1]]


def test_the_fastest_of_each_root_is_taken_and_several_only_where_they_help_together():
    assert taken(own=1.0, first=0.8, second=0.7, other=1.1) == ["second"]
    assert taken(own=1.0, first=0.99, second=1.2, other=1.1) == []  # less is noise
    assert taken(own=1.0, first=0.8, second=0.9, other=0.9, both=0.6) == ["first", "other"]
    assert taken(own=1.0, first=0.8, other=0.9, both=0.85) == ["first"]
    assert taken(own=1.0, first=0.8, other=0.9) == ["first"]  # together they do not compile
    assert taken(first=0.8) == []


# --- what a dispatch gets


@pytest.mark.parametrize("target", ["llvm-cpu", "vulkan", "gfx942"])
def test_the_configuration_of_the_spec_is_what_the_dispatch_gets(target, tmp_path):
    (tmp_path / "in.mlir").write_text(MATMUL)
    session = Session(TARGETS[target])
    module = session.parse(tmp_path / "in.mlir")
    session.run(module, "executable-configurations")
    found = tilings(module)
    wanted = found.offers[0]
    assert not in_effect(module, [wanted.config])

    # In the module itself, as fissile compiles it.
    carrying = session.parse(tmp_path / "in.mlir")
    attach_spec(carrying.op, spec_of([wanted], found.flag))
    session.run(carrying, "executable-configurations")
    assert in_effect(carrying, [wanted.config])
    session.run(carrying, "end")
    session.write(carrying, tmp_path / "carried.vmfb")

    # As a file, by IREE's own flag: stock and fissile alike.
    (tmp_path / "spec.mlir").write_text(spec_of([wanted], found.flag))
    words = [*TARGETS[target], f"--{found.flag}={tmp_path}/spec.mlir", str(tmp_path / "in.mlir"), "-o"]
    for program, verb in (("iree-compile", []), ("fissile", ["compile"])):
        done = run_program(
            [BIN / program, *verb, *words, tmp_path / f"{program}.vmfb"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert (tmp_path / f"{program}.vmfb").read_bytes() == (tmp_path / "carried.vmfb").read_bytes()
    assert f"--{found.flag}=THIS_FILE" in (tmp_path / "spec.mlir").read_text().splitlines()[0]


def test_a_module_without_its_spec_is_as_before():
    session = Session(TARGETS["gfx942"])
    module = session.parse_text(MATMUL)
    attach_spec(module.op, "// nothing")
    assert SPEC_ATTRIBUTE in module.op.attributes
    detach_spec(module.op)
    detach_spec(module.op)
    assert SPEC_ATTRIBUTE not in module.op.attributes


def test_what_is_reported_of_a_tuned_spec():
    assert tuned_spec("s.mlir", True, False) is None
    assert "tiles alone" in tuned_spec("s.mlir", True, True).message
    none = tuned_spec("s.mlir", False, True)
    assert "no tuning spec was written" in none.message and none.notes


# --- a whole compile, on a device whose times are known

TUNED = """
import json, sys
from pathlib import Path
from fissile.passes.iree.library import initialise_command_line
from fissile.passes.iree.late_imports import load_late
load_late()
from fissile.pipelines.compile.compile_run import CompileRun
from fissile.pipelines.compile.guarded_compile import GuardedCompile
from fissile.pipelines.compile.request import parse_command_line
from fissile.pipelines.tune import fastest
from fissile.pipelines.tune.timing import Timed

class Device:
    "Tiles of 32 are fast, the model's choice is faster than other boundaries."
    def __str__(self): return "a device"
    def time(self, programs, signatures):
        rows = [Timed(name, 0.5 if "tiles of 32" in name else 1.0 if "choice" in name else 2.0) for name, _ in programs]
        return sorted(rows, key=lambda row: row.seconds)

fastest.device_for = lambda drivers, address: Device()
request = parse_command_line(sys.argv[1:])
initialise_command_line(list(request.flags))
output = Path(request.output)
report = GuardedCompile(CompileRun(request, output, None, output.parent)).run()
print(json.dumps({"facts": report.facts, "codes": [f.code for f in report.findings]}, default=str))
"""


@pytest.mark.slow  # ten compiles; what they are made of is tested above
def test_the_winner_is_kept_as_a_spec_and_reused_by_fissile_and_by_stock(tmp_path, monkeypatch):
    monkeypatch.setenv("FISSILE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "conv.mlir").write_text(quantised_conv(size=28))
    spec, edited = tmp_path / "spec.mlir", tmp_path / "edited.mlir"

    def tuned(name):
        words = [*TARGETS["gfx942"], "--tune", f"--emit-tuning-spec={spec}", f"--emit-mlir={edited}"]
        done = subprocess.run(
            [sys.executable, "-c", TUNED, *words, str(tmp_path / "conv.mlir"), "-o", str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    first = tuned("a.vmfb")
    (fast,) = (name for name in first["facts"]["tuned_tiles"] if "tiles of 32" in name)
    assert first["facts"]["tuning_spec"]["written"] and not first["facts"]["tuned_before"]
    assert first["codes"] == ["FIS101", "FIS122"]  # the boundary is in the program, not in the spec
    assert "workgroup = [32, 4, 32, 0]" in spec.read_text(), fast

    second = tuned("b.vmfb")
    assert second["facts"]["tuned_before"] and second["facts"]["tuned_tiles"] == first["facts"]["tuned_tiles"]
    assert (tmp_path / "a.vmfb").read_bytes() == (tmp_path / "b.vmfb").read_bytes()

    # Stock builds the program that carries both: the boundary and the tiles.
    words = [*TARGETS["gfx942"], "--compile-from=global-optimization", str(edited), "-o"]
    done = run_program(
        [BIN / "iree-compile", *words, tmp_path / "stock.vmfb"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shown = run_program(
        [
            BIN / "iree-compile",
            *words,
            tmp_path / "configured.mlir",
            "--compile-to=executable-configurations",
        ],
        capture_output=True,
        text=True,
    )
    assert shown.returncode == 0, shown.stderr
    assert "workgroup = [32, 4, 32, 0]" in (tmp_path / "configured.mlir").read_text()

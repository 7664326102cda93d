"""`compile --pack-transients`: the allocator's peak falls, no bit changes, and what has nothing to pack is stock's."""

import json
import subprocess

import pytest

from bench.lifetime import transients
from fissile.cli.main import main
from fissile.passes.iree import pipelines
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.compile.hooks.transients import pack_transients
from fissile.pipelines.native_programs import stock_compiler
from fissile.pipelines.session import Session
from fissile.target import find_target

FLAGS = flags_for(find_target("llvm-cpu"))
SMALL = (64, 128, 256, 512)


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    return transients.chain(tmp_path_factory.mktemp("chain"), rows=16, widths=SMALL)


def findings(capsys, *words):
    status = main(["compile", *map(str, words), *FLAGS, "--format=json"])
    return status, json.loads(capsys.readouterr().out)["findings"]


def test_the_peak_that_the_allocator_counts_falls_and_no_bit_changes(chain):
    stock, foreseen = transients.compiled(chain, "llvm-cpu", packed=False)
    packed, slabs = transients.compiled(chain, "llvm-cpu", packed=True)
    # 16 rows of 128, 256 and 512 floats; the largest two neighbours are what is needed.
    assert foreseen == slabs == [(16 * 4 * (128 + 256 + 512), 16 * 4 * (256 + 512))]
    before = transients.measured(chain, stock, "local-sync")
    after = transients.measured(chain, packed, "local-sync")
    assert before.outputs == after.outputs
    assert before.peak - after.peak == 16 * 4 * 128


def test_slices_that_are_multiples_of_a_dimension_share_room_too(tmp_path):
    program = transients.chain(tmp_path, rows=16, widths=SMALL, dynamic=True)
    stock, foreseen = transients.compiled(program, "llvm-cpu", packed=False)
    packed, slabs = transients.compiled(program, "llvm-cpu", packed=True)
    # Bytes of one row: IREE gives each size room of its own.
    assert foreseen == slabs == [(4 * (128 + 256 + 512), 4 * (256 + 512))]
    before = transients.measured(program, stock, "local-sync")
    after = transients.measured(program, packed, "local-sync")
    assert before.outputs == after.outputs
    assert before.peak - after.peak == 16 * 4 * 128


def test_a_program_without_anything_to_pack_is_stocks_bytes(tmp_path, capsys):
    source = tmp_path / "small.mlir"
    source.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = arith.addf %x, %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    )
    assert findings(capsys, source, "-o", tmp_path / "a.vmfb", "--pack-transients") == (0, [])
    subprocess.run([stock_compiler(), source, *FLAGS, "-o", tmp_path / "b.vmfb"], check=True)
    assert (tmp_path / "a.vmfb").read_bytes() == (tmp_path / "b.vmfb").read_bytes()


def test_without_the_option_the_bytes_are_stocks(chain, tmp_path, capsys):
    status, found = findings(capsys, chain.source, "-o", tmp_path / "a.vmfb", "--check-lifetimes")
    assert status == 0 and {one["severity"] for one in found} == {"note"}
    [slab] = [one for one in found if one["code"] == "FIS311"]
    assert slab["effect"] == "large"
    subprocess.run([stock_compiler(), chain.source, *FLAGS, "-o", tmp_path / "b.vmfb"], check=True)
    assert (tmp_path / "a.vmfb").read_bytes() == (tmp_path / "b.vmfb").read_bytes()


def at_flow(chain):
    session = Session(FLAGS)
    return session, session.run(session.parse(chain.source), "flow")


def test_the_two_parts_of_the_phase_make_what_the_phase_makes(chain):
    session, module = at_flow(chain)
    assert [finding.severity.value for finding in pack_transients(session, module)] == ["repaired"]
    assert module.phase == "stream" and "stream.resource.pack" not in module.text()


def test_where_the_two_parts_differ_from_the_phase_nothing_is_packed(chain, monkeypatch):
    session, module = at_flow(chain)
    before = module.text()
    shorter = pipelines.STREAM_FROM_ALLOCATION.replace("iree-stream-optimization-pipeline,", "")
    monkeypatch.setattr("fissile.pipelines.compile.hooks.transients.STREAM_FROM_ALLOCATION", shorter)
    [finding] = pack_transients(session, module)
    assert finding.severity.value == "warning" and "not packed" in finding.notes[-1]
    assert (module.phase, module.text()) == ("flow", before)

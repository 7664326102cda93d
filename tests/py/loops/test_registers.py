"""What the VM's registers hold: values that are read where they are not any more (FIS173)."""

from __future__ import annotations

import pytest
from built import CPU
from iree.compiler import ir

import fissile
from bench.control_flow.__main__ import RIGHT, called
from bench.control_flow.updating import Updating
from fissile.passes.analysis.loops.registers import values_lost

REF = "!vm.ref<?>"


def lost(passed: str, moves: str, argument: str, read: str) -> list[str]:
    """Of a function that passes %a (in r0) and %n to a block with the argument %b, which reads %a and %b."""
    text = f"""
vm.module @module {{
  vm.func private @f(%a: {REF}, %n: i32) {{
    %m = vm.add.i32 %n, %n {{block_registers = ["r0", "i0"], operand_registers = ["i0", "i0"], result_registers = ["i1"]}} : i32
    vm.br ^bb1(%a, %m : {REF}, i32) {{operand_registers = ["{passed}", "i1"], remap_registers = [[{moves}]]}}
  ^bb1(%b: {REF}, %o: i32):
    %p = vm.cmp.nz.ref %a {{block_registers = ["{argument}", "i2"], operand_registers = ["{read}"], result_registers = ["i3"]}} : {REF}
    %q = vm.cmp.nz.ref %b {{operand_registers = ["{argument.upper()}"], result_registers = ["i3"]}} : {REF}
    vm.return {{operand_registers = []}}
  }}
}}"""
    with ir.Context():
        module = ir.Module.parse(text).operation
        return [op.name for op in values_lost(module)]


MOVED = '"i1->i2"'
CASES = {
    "a copy in a register of its own": (("r0", f'"r0->r1", {MOVED}', "r1", "r0"), []),
    "moved out, and read later": (("R0", f'"R0->r1", {MOVED}', "r1", "r0"), ["vm.cmp.nz.ref"]),
    "never put where the argument is": (("r0", MOVED, "r1", "r0"), ["vm.br"]),
    "one register for both": (("r0", MOVED, "r0", "r0"), ["vm.cmp.nz.ref"]),
    "an integer that is not moved": (("r0", '"r0->r1"', "r1", "r0"), ["vm.br"]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_lost(case):
    given, expected = CASES[case]
    assert lost(*given) == expected


def test_a_buffer_is_read_in_a_loop_that_passes_it_on(tmp_path):
    """IREE gives a block's argument the register of a buffer that is read in the block, too: without the copy the call fails."""
    source, output, program = tmp_path / "f.mlir", tmp_path / "f.vmfb", Updating(15)
    source.write_text(program.text)
    report = fissile.compile(source, output, list(CPU), check=False)
    assert "FIS173" in {f.code for f in report.findings if f.severity.value == "repaired"}
    assert called(output, program, "local-task") == RIGHT

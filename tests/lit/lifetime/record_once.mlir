// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-record-once)' | FileCheck %s

module attributes {stream.affinity.default = #hal.device.affinity<@device>} {
  util.global private @device = #hal.device.target<"vulkan", [#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">]> : !hal.device

  // CHECK-LABEL: util.func public @copied
  // CHECK:         stream.cmd.execute once
  util.func public @copied(%a: !stream.resource<external>, %b: !stream.resource<staging>) -> !stream.timepoint {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %done = stream.cmd.execute with(%a as %x: !stream.resource<external>{%c16}, %b as %y: !stream.resource<staging>{%c4}) {
      stream.cmd.copy %x[%c0], %y[%c0], %c4 : !stream.resource<external>{%c16} -> !stream.resource<staging>{%c4}
      stream.cmd.copy %x[%c4], %y[%c0], %c4 : !stream.resource<external>{%c16} -> !stream.resource<staging>{%c4}
    } => !stream.timepoint
    util.return %done : !stream.timepoint
  }

  // The offset is known in the call only; there is a fill as well; one copy is not recorded.
  // CHECK-LABEL: util.func public @silent
  // CHECK-NOT:     once
  util.global private @table : !stream.resource<constant>
  util.func public @silent(%a: !stream.resource<external>, %b: !stream.resource<external>, %i: index) -> !stream.timepoint {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c7 = arith.constant 7 : i32
    %t = util.global.load immutable @table : !stream.resource<constant>
    %one = stream.cmd.execute with(%a as %x: !stream.resource<external>{%c16}, %b as %y: !stream.resource<external>{%c16}) {
      stream.cmd.copy %x[%i], %y[%c0], %c4 : !stream.resource<external>{%c16} -> !stream.resource<external>{%c16}
    } => !stream.timepoint
    %two = stream.cmd.execute await(%one) => with(%a as %x: !stream.resource<external>{%c16}) {
      stream.cmd.fill %c7, %x[%c0 for %c16] : i32 -> !stream.resource<external>{%c16}
      stream.cmd.copy %x[%c0], %x[%c8], %c4 : !stream.resource<external>{%c16} -> !stream.resource<external>{%c16}
    } => !stream.timepoint
    %three = stream.cmd.execute await(%two) => with(%t as %x: !stream.resource<constant>{%c16}, %b as %y: !stream.resource<external>{%c16}) {
      stream.cmd.copy %x[%c0], %y[%c0], %c4 : !stream.resource<constant>{%c16} -> !stream.resource<external>{%c16}
      stream.cmd.fill %c7, %y[%c4 for %c4] : i32 -> !stream.resource<external>{%c16}
    } => !stream.timepoint
    %four = stream.cmd.execute await(%three) => with(%a as %x: !stream.resource<external>{%c16}, %b as %y: !stream.resource<external>{%c16}) {
      stream.cmd.copy %x[%c0], %y[%c0], %c4 : !stream.resource<external>{%c16} -> !stream.resource<external>{%c16}
    } => !stream.timepoint
    util.return %four : !stream.timepoint
  }
}

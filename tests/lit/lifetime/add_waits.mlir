// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-add-waits)' | FileCheck %s

// A command buffer without a wait, and one that waits for something else.
// CHECK-LABEL: util.func public @lost
// CHECK:         %[[A:.*]], %[[AT:.*]] = stream.resource.alloca
// CHECK:         %[[E:.*]] = stream.cmd.execute await(%[[AT]]) => with(%[[A]] as
// CHECK:         %[[B:.*]], %[[BT:.*]] = stream.resource.alloca
// CHECK:         %[[JOIN:.*]] = stream.timepoint.join max(%arg0, %[[E]], %[[BT]])
// CHECK:         stream.cmd.execute await(%[[JOIN]]) => with(%[[A]] as
util.func public @lost(%t: !stream.timepoint) -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c0_i32 = arith.constant 0 : i32
  %a, %at = stream.resource.alloca uninitialized : !stream.resource<transient>{%c16} => !stream.timepoint
  %e = stream.cmd.execute with(%a as %x: !stream.resource<transient>{%c16}) {
    stream.cmd.fill %c0_i32, %x[%c0 for %c16] : i32 -> !stream.resource<transient>{%c16}
  } => !stream.timepoint
  %b, %bt = stream.resource.alloca uninitialized : !stream.resource<transient>{%c16} => !stream.timepoint
  %f = stream.cmd.execute await(%t) => with(%a as %x: !stream.resource<transient>{%c16}, %b as %y: !stream.resource<transient>{%c16}) {
    stream.cmd.copy %x[%c0], %y[%c0], %c16 : !stream.resource<transient>{%c16} -> !stream.resource<transient>{%c16}
  } => !stream.timepoint
  util.return %f : !stream.timepoint
}

// One that waits for all, through a join, another command buffer or the host.
// CHECK-LABEL: util.func public @kept
// CHECK-COUNT-2: stream.cmd.execute
// CHECK-NOT:     stream.timepoint.join
// CHECK:         stream.timepoint.await
// CHECK-NOT:     stream.timepoint.join
// CHECK:         stream.cmd.execute with(
util.func public @kept() -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c0_i32 = arith.constant 0 : i32
  %a, %at = stream.resource.alloca uninitialized : !stream.resource<transient>{%c16} => !stream.timepoint
  %e = stream.cmd.execute await(%at) => with(%a as %x: !stream.resource<transient>{%c16}) {
    stream.cmd.fill %c0_i32, %x[%c0 for %c16] : i32 -> !stream.resource<transient>{%c16}
  } => !stream.timepoint
  %b, %bt = stream.resource.alloca uninitialized await(%e) => !stream.resource<transient>{%c16} => !stream.timepoint
  %f = stream.cmd.execute await(%bt) => with(%a as %x: !stream.resource<transient>{%c16}, %b as %y: !stream.resource<transient>{%c16}) {
    stream.cmd.copy %x[%c0], %y[%c0], %c16 : !stream.resource<transient>{%c16} -> !stream.resource<transient>{%c16}
  } => !stream.timepoint
  %h = stream.timepoint.await %f => %b : !stream.resource<transient>{%c16}
  %g = stream.cmd.execute with(%a as %x: !stream.resource<transient>{%c16}, %b as %y: !stream.resource<transient>{%c16}) {
    stream.cmd.copy %y[%c0], %x[%c0], %c16 : !stream.resource<transient>{%c16} -> !stream.resource<transient>{%c16}
  } => !stream.timepoint
  util.return %g : !stream.timepoint
}

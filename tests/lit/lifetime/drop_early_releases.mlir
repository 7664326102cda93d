// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-drop-early-releases)' | FileCheck %s

// CHECK-LABEL: util.func public @early
// CHECK:         %[[R:.*]], %[[T:.*]] = stream.resource.alloca
// CHECK-NOT:     stream.resource.dealloca
// CHECK:         stream.timepoint.await %[[T]] => %[[R]]
util.func public @early(%size: index) -> !stream.resource<transient> {
  %r, %t = stream.resource.alloca uninitialized : !stream.resource<transient>{%size} => !stream.timepoint
  %freed = stream.resource.dealloca await(%t) => %r : !stream.resource<transient>{%size} => !stream.timepoint
  %u = stream.timepoint.await %freed => %r : !stream.resource<transient>{%size}
  util.return %u : !stream.resource<transient>
}

// CHECK-LABEL: util.func public @last
// CHECK:         stream.resource.dealloca
util.func public @last(%size: index) {
  %r, %t = stream.resource.alloca uninitialized : !stream.resource<transient>{%size} => !stream.timepoint
  %c0 = arith.constant 0 : index
  %c0_i8 = arith.constant 0 : i8
  %done = stream.cmd.execute await(%t) => with(%r as %a: !stream.resource<transient>{%size}) {
    stream.cmd.fill %c0_i8, %a[%c0 for %size] : i8 -> !stream.resource<transient>{%size}
  } => !stream.timepoint
  %freed = stream.resource.dealloca await(%done) => %r : !stream.resource<transient>{%size} => !stream.timepoint
  util.return
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hide-stored-values)' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hide-stored-values{globals=h})' | FileCheck %s --check-prefix=NAMED
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-hide-stored-values{globals=nobody})' 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: fissile-hide-stored-values: there is no global @nobody

// The initial value is not hidden.
// CHECK:         util.global private mutable @g
util.global private mutable @g : tensor<4xi32>
util.global private mutable @h : tensor<?xi32>
util.global private mutable @s = 0 : i32
util.initializer {
  %c = arith.constant dense<1> : tensor<4xi32>
// CHECK:         util.initializer
// CHECK-NOT:     util.optimization_barrier
// CHECK:         util.global.store %{{.*}}, @g
  util.global.store %c, @g : tensor<4xi32>
  util.return
}

// CHECK-LABEL: util.func public @stored
// CHECK:         %[[X:.*]] = flow.tensor.clone
// CHECK:         scf.if
// CHECK-NEXT:      %[[HIDDEN:.*]] = util.optimization_barrier %[[X]] : tensor<4xi32>
// CHECK-NEXT:      util.global.store %[[HIDDEN]], @g
// NAMED-LABEL: util.func public @stored
// NAMED-NOT:     util.optimization_barrier
// NAMED:         util.return
util.func public @stored(%a: tensor<4xi32>, %p: i1) {
  %x = flow.tensor.clone %a : tensor<4xi32>
  scf.if %p {
    util.global.store %x, @g : tensor<4xi32>
  }
  util.return
}

// The size of the tensor stays known.
// CHECK-LABEL: util.func public @dynamic
// CHECK:         %[[X:.*]] = flow.tensor.clone
// CHECK:         %[[HIDDEN:.*]] = util.optimization_barrier %[[X]] : tensor<?xi32>
// CHECK:         %[[TIED:.*]] = flow.tensor.tie_shape %[[HIDDEN]] : tensor<?xi32>{%{{.*}}}
// CHECK:         util.global.store %[[TIED]], @h
// NAMED-LABEL: util.func public @dynamic
// NAMED:         util.optimization_barrier
util.func public @dynamic(%a: tensor<?xi32>, %n: index) {
  %x = flow.tensor.clone %a : tensor<?xi32>{%n}
  util.global.store %x, @h : tensor<?xi32>
  util.return
}

// A number is no tensor; what is loaded is not hidden, nor what is loaded or passed in and then stored: IREE would not wait for it.
// CHECK-LABEL: util.func public @silent
// CHECK-NOT:     util.optimization_barrier
// CHECK:         util.return
util.func public @silent(%n: i32, %a: tensor<4xi32>) -> tensor<4xi32> {
  util.global.store %n, @s : i32
  util.global.store %a, @g : tensor<4xi32>
  %r = util.global.load @g : tensor<4xi32>
  util.global.store %r, @g : tensor<4xi32>
  util.return %r : tensor<4xi32>
}

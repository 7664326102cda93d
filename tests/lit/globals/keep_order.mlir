// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-keep-order)' | FileCheck %s

util.global private mutable @g = dense<0> : tensor<4xi32>
util.global private mutable @h = dense<0> : tensor<4xi32>

// CHECK:       util.func private @__fissile_keep_order() attributes {inlining_policy = #util.inline.never}
// CHECK:         util.optimization_barrier
// CHECK-NEXT:    util.return

util.func private @set(%x: tensor<4xi32>) {
  util.global.store %x, @g : tensor<4xi32>
  util.return
}

// Loaded behind a branch that stores it.
// CHECK-LABEL: util.func public @load
// CHECK:         util.call @__fissile_keep_order() : () -> ()
// CHECK-NEXT:    scf.if
// CHECK:         }
// CHECK-NEXT:    util.call @__fissile_keep_order() : () -> ()
// CHECK-NEXT:    util.global.load @g
util.func public @load(%x: tensor<4xi32>, %p: i1) -> tensor<4xi32> {
  scf.if %p {
    util.global.store %x, @g : tensor<4xi32>
  }
  %r = util.global.load @g : tensor<4xi32>
  util.return %r : tensor<4xi32>
}

// Stored before a loop that calls what stores it.
// CHECK-LABEL: util.func public @store
// CHECK:         util.global.store
// CHECK:         util.call @__fissile_keep_order() : () -> ()
// CHECK-NEXT:    scf.for
util.func public @store(%x: tensor<4xi32>, %y: tensor<4xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  util.global.store %x, @g : tensor<4xi32>
  scf.for %i = %c0 to %n step %c1 {
    util.call @set(%y) : (tensor<4xi32>) -> ()
  }
  util.return
}

// The condition stores it: IREE computes the condition before the loop, too.
// CHECK-LABEL: util.func public @condition
// CHECK:         scf.while
// CHECK:           util.global.store
// CHECK-NEXT:      util.call @__fissile_keep_order() : () -> ()
// CHECK-NEXT:      scf.condition
// CHECK-NOT:       util.call @__fissile_keep_order
// CHECK:         util.return
util.func public @condition(%x: tensor<4xi32>, %n: index) -> index {
  %c1 = arith.constant 1 : index
  %r = scf.while (%i = %n) : (index) -> index {
    %p = arith.cmpi ult, %i, %c1 : index
    util.global.store %x, @g : tensor<4xi32>
    scf.condition(%p) %i : index
  } do {
  ^bb0(%i: index):
    scf.yield %i : index
  }
  util.return %r : index
}

// Another global; loaded before and stored behind; stored again before it is loaded; a call that is not inlined stands between.
// CHECK-LABEL: util.func public @silent
// CHECK-NOT:     util.call @__fissile_keep_order
// CHECK:         util.return
util.func public @silent(%x: tensor<4xi32>, %p: i1) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %a = util.global.load @g : tensor<4xi32>
  scf.if %p {
    util.global.store %x, @g : tensor<4xi32>
  }
  %b = util.global.load @h : tensor<4xi32>
  util.global.store %x, @g : tensor<4xi32>
  %c = util.global.load @g : tensor<4xi32>
  util.return %a, %b, %c : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

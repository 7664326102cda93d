// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-submit-in-order)' | FileCheck %s

util.global private mutable @g = dense<0> : tensor<i32>
util.global private mutable @h = dense<0> : tensor<i32>

// The branch waits for the tensor that is read; so no work of the device may come between.
// CHECK-LABEL: util.func public @read
// CHECK:         flow.tensor.load
// CHECK-NEXT:    arith.cmpi
// CHECK-NEXT:    util.call @__fissile_keep_order() : () -> ()
// CHECK-NEXT:    util.global.store %{{.*}}, @g
// CHECK:         scf.if
// CHECK:         }
// CHECK:         util.global.load @g
util.func public @read(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %c9 = arith.constant 9 : i32
  %x = flow.tensor.clone %a : tensor<i32>
  %e = flow.tensor.load %x : tensor<i32>
  %p = arith.cmpi slt, %e, %c9 : i32
  util.global.store %b, @g : tensor<i32>
  scf.if %p {
    %y = flow.tensor.clone %b : tensor<i32>
    util.global.store %y, @g : tensor<i32>
  }
  %r = util.global.load @g : tensor<i32>
  util.return %r : tensor<i32>
}

// What is read behind the place is not read in the submission before it.
// CHECK-LABEL: util.func public @read_later
// CHECK:         util.global.store %[[X:.*]], @g
// CHECK-NEXT:    util.call @__fissile_keep_order() : () -> ()
// CHECK-NEXT:    util.global.load @g
// CHECK:         %[[Y:.*]] = util.optimization_barrier %[[X]] : tensor<i32>
// CHECK:         flow.tensor.load %[[Y]]
util.func public @read_later(%a: tensor<i32>) -> (tensor<i32>, i32) {
  %x = flow.tensor.clone %a : tensor<i32>
  util.global.store %x, @g : tensor<i32>
  %r = util.global.load @g : tensor<i32>
  %e = flow.tensor.load %x : tensor<i32>
  util.return %r, %e : tensor<i32>, i32
}

// Loaded before it is stored; another global; nothing is accessed behind.
// CHECK-LABEL: util.func public @silent
// CHECK-NOT:     util.call @__fissile_keep_order
// CHECK-NOT:     util.optimization_barrier
// CHECK:         util.return
util.func public @silent(%a: tensor<i32>) -> (tensor<i32>, tensor<i32>, i32) {
  %q = util.global.load @g : tensor<i32>
  %r = util.global.load @h : tensor<i32>
  %x = flow.tensor.clone %a : tensor<i32>
  %e = flow.tensor.load %x : tensor<i32>
  util.global.store %x, @g : tensor<i32>
  util.return %q, %r, %e : tensor<i32>, tensor<i32>, i32
}

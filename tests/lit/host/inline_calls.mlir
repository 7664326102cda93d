// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-inline-calls)' | FileCheck %s

// CHECK-LABEL: util.func private @called
// CHECK-NOT:     inline
// CHECK:         util.return
util.func private @called(%x: tensor<4xi32>) -> tensor<4xi32> attributes {inlining_policy = #util.inline.never} {
  util.return %x : tensor<4xi32>
}

// CHECK-LABEL: func.func private @also
// CHECK-NOT:     inline
// CHECK:         return
func.func private @also(%x: tensor<4xi32>) -> tensor<4xi32> attributes {no_inline} {
  return %x : tensor<4xi32>
}

// Nothing calls it; or others see it.
// CHECK-LABEL: util.func private @not_called
// CHECK-SAME:    inlining_policy = #util.inline.never
util.func private @not_called(%x: tensor<4xi32>) -> tensor<4xi32> attributes {inlining_policy = #util.inline.never} {
  util.return %x : tensor<4xi32>
}

// CHECK-LABEL: util.func public @main
// CHECK-SAME:    inlining_policy = #util.inline.never
util.func public @main(%x: tensor<4xi32>) -> tensor<4xi32> attributes {inlining_policy = #util.inline.never} {
  %y = util.call @called(%x) : (tensor<4xi32>) -> tensor<4xi32>
  %z = func.call @also(%y) : (tensor<4xi32>) -> tensor<4xi32>
  util.return %z : tensor<4xi32>
}

// Two matmuls in a group become one dispatch; without the group IREE makes two.
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-lower-groups,iree-dispatch-creation-pipeline)' | FileCheck %s

// CHECK-LABEL: util.func public @grouped
// CHECK: flow.dispatch.workgroups
// CHECK: linalg.matmul
// CHECK: linalg.matmul
// CHECK-NOT: flow.dispatch.workgroups[
util.func public @grouped(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = "fissile.group"() ({
    %m = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = linalg.matmul ins(%m, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
    flow.return %n : tensor<8x8xf32>
  }) : () -> tensor<8x8xf32>
  util.return %r : tensor<8x8xf32>
}

// CHECK-LABEL: util.func public @silent
// CHECK: flow.dispatch.workgroups
// CHECK: linalg.matmul
// CHECK: flow.dispatch.workgroups
// CHECK: linalg.matmul
util.func public @silent(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %m = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = linalg.matmul ins(%m, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  util.return %n : tensor<8x8xf32>
}

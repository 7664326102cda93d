// RUN: fissile-opt %s --fissile-lower-groups --verify-contracts | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Sizes that the body computes are computed again in front of the region.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:    (%[[A:.*]]: tensor<?x4xf32>)
func.func @dynamic(%a: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xi8>) {
  // CHECK: %[[D:.*]] = tensor.dim %[[A]], %c0
  // CHECK: flow.dispatch.region -> (tensor<?x4xf32>{%[[D]]}, tensor<?x4xi8>{%[[D]]}) {
  // CHECK:   linalg.generic
  // CHECK:   linalg.generic
  // CHECK:   flow.return
  %0:2 = "fissile.group"() ({
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?x4xf32>
    %e = tensor.empty(%d) : tensor<?x4xf32>
    %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %q = math.exp %i : f32
      linalg.yield %q : f32
    } -> tensor<?x4xf32>
    %e2 = tensor.empty(%d) : tensor<?x4xi8>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x4xf32>) outs(%e2 : tensor<?x4xi8>) {
    ^bb0(%i: f32, %o: i8):
      %q = arith.fptosi %i : f32 to i8
      linalg.yield %q : i8
    } -> tensor<?x4xi8>
    flow.return %x, %y : tensor<?x4xf32>, tensor<?x4xi8>
  }) : () -> (tensor<?x4xf32>, tensor<?x4xi8>)
  return %0#0, %0#1 : tensor<?x4xf32>, tensor<?x4xi8>
}

// CHECK-LABEL: func.func @silent
func.func @silent(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: math.exp
  // CHECK-NEXT: return
  %0 = math.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

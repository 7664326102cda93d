// The same text is accepted by the in-process dialect and by the IRDL registration, and printed back alike.
// RUN: fissile-opt %s | FileCheck %s
// RUN: iree-opt --irdl-file=%irdl %s | FileCheck %s

// CHECK-LABEL: func.func @boundary
func.func @boundary(%t: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {fissile.budget = 16384 : i64} {
  // CHECK: "fissile.boundary"(%{{.*}}) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %0 = "fissile.boundary"(%t) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @group
func.func @group(%t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: "fissile.group"() ({
  // CHECK: flow.return
  // CHECK: }) : () -> (tensor<4xf32>, tensor<4xf32>)
  %0:2 = "fissile.group"() ({
    %1 = math.exp %t : tensor<4xf32>
    %2 = math.exp %1 : tensor<4xf32>
    flow.return %1, %2 : tensor<4xf32>, tensor<4xf32>
  }) : () -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @storage
func.func @storage(%bytes: index, %rows: index, %ok: i1) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  // CHECK: "fissile.require"(%{{.*}}) {message = "rows fit"} : (i1) -> ()
  "fissile.require"(%ok) {message = "rows fit"} : (i1) -> ()
  // CHECK: %[[S:.*]] = "fissile.alloc_storage"(%{{.*}}) : (index) -> !fissile.storage
  %s = "fissile.alloc_storage"(%bytes) : (index) -> !fissile.storage
  // CHECK: "fissile.alloc_tensor"(%[[S]], %{{.*}}, %{{.*}}) : (!fissile.storage, index, index) -> tensor<?x4xf32>
  %t = "fissile.alloc_tensor"(%s, %c0, %rows) : (!fissile.storage, index, index) -> tensor<?x4xf32>
  // CHECK: "fissile.kill"(%{{.*}}) : (tensor<?x4xf32>) -> ()
  "fissile.kill"(%t) : (tensor<?x4xf32>) -> ()
  // CHECK: "fissile.kill"(%[[S]]) : (!fissile.storage) -> ()
  "fissile.kill"(%s) : (!fissile.storage) -> ()
  return %t : tensor<?x4xf32>
}

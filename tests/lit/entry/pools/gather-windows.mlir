// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-gather-windows)' 2>/dev/null | FileCheck %s

// Windows of two and three elements: a table for each dimension, from the last.
// CHECK-LABEL: func.func @uneven
// CHECK-NOT:     adaptive_max_pool2d
// CHECK:         torch.vtensor.literal(dense<{{\[}}[0, 1, 2], [2, 3, 4]]> : tensor<2x3xsi64>)
// CHECK:         torch.aten.index.Tensor {{.*}} -> !torch.vtensor<[2,3,7,2,3],f32>
// CHECK:         torch.aten.amax {{.*}} -> !torch.vtensor<[2,3,7,2],f32>
// CHECK:         torch.aten.index.Tensor {{.*}} -> !torch.vtensor<[2,3,3,3,2],f32>
// CHECK:         torch.aten.gather
func.func @uneven(%x: !torch.vtensor<[2,3,7,5],f32>) -> (!torch.vtensor<[2,3,3,2],f32>, !torch.vtensor<[2,3,3,2],si64>) {
  %rows = torch.constant.int 3
  %columns = torch.constant.int 2
  %counts = torch.prim.ListConstruct %rows, %columns : (!torch.int, !torch.int) -> !torch.list<int>
  %r, %i = torch.aten.adaptive_max_pool2d %x, %counts : !torch.vtensor<[2,3,7,5],f32>, !torch.list<int> -> !torch.vtensor<[2,3,3,2],f32>, !torch.vtensor<[2,3,3,2],si64>
  return %r, %i : !torch.vtensor<[2,3,3,2],f32>, !torch.vtensor<[2,3,3,2],si64>
}

// An image alone, whose sizes the call decides.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT:     adaptive_max_pool2d
// CHECK:         torch.aten.floor_divide.Scalar
// CHECK:         torch.aten.index.Tensor {{.*}} -> !torch.vtensor<[3,?,2,?],f16>
func.func @unknown(%x: !torch.vtensor<[3,?,?],f16>) -> (!torch.vtensor<[3,3,2],f16>, !torch.vtensor<[3,3,2],si64>) {
  %rows = torch.constant.int 3
  %columns = torch.constant.int 2
  %counts = torch.prim.ListConstruct %rows, %columns : (!torch.int, !torch.int) -> !torch.list<int>
  %r, %i = torch.aten.adaptive_max_pool2d %x, %counts : !torch.vtensor<[3,?,?],f16>, !torch.list<int> -> !torch.vtensor<[3,3,2],f16>, !torch.vtensor<[3,3,2],si64>
  return %r, %i : !torch.vtensor<[3,3,2],f16>, !torch.vtensor<[3,3,2],si64>
}

// IREE lowers it.
// CHECK-LABEL: func.func @one_dimension
// CHECK:         torch.aten.adaptive_max_pool1d
func.func @one_dimension(%x: !torch.vtensor<[2,3,7],f32>) -> (!torch.vtensor<[2,3,3],f32>, !torch.vtensor<[2,3,3],si64>) {
  %count = torch.constant.int 3
  %counts = torch.prim.ListConstruct %count : (!torch.int) -> !torch.list<int>
  %r, %i = torch.aten.adaptive_max_pool1d %x, %counts : !torch.vtensor<[2,3,7],f32>, !torch.list<int> -> !torch.vtensor<[2,3,3],f32>, !torch.vtensor<[2,3,3],si64>
  return %r, %i : !torch.vtensor<[2,3,3],f32>, !torch.vtensor<[2,3,3],si64>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-scatter-slices)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @add
// CHECK: torch.aten.broadcast_to {{.*}} -> !torch.vtensor<[?,4],si64>
// CHECK: torch.aten.mul.Scalar
// CHECK: torch.aten.scatter_add {{.*}} -> !torch.vtensor<[?,4],f32>
func.func @add(%x: !torch.vtensor<[?,4],f32>, %i: !torch.vtensor<[?],si64>, %v: !torch.vtensor<[?,4],f32>) -> !torch.vtensor<[?,4],f32> {
  %dim = torch.constant.int 0
  %alpha = torch.constant.float 2.5
  %r = torch.operator "torch.aten.index_add"(%x, %dim, %i, %v, %alpha) : (!torch.vtensor<[?,4],f32>, !torch.int, !torch.vtensor<[?],si64>, !torch.vtensor<[?,4],f32>, !torch.float) -> !torch.vtensor<[?,4],f32>
  return %r : !torch.vtensor<[?,4],f32>
}

// CHECK-LABEL: @fill
// CHECK: torch.aten.scatter.value {{.*}} -> !torch.vtensor<[3,9],f32>
func.func @fill(%x: !torch.vtensor<[3,9],f32>, %i: !torch.vtensor<[2],si64>) -> !torch.vtensor<[3,9],f32> {
  %dim = torch.constant.int -1
  %value = torch.constant.int 3
  %r = torch.operator "torch.aten.index_fill.int_Scalar"(%x, %dim, %i, %value) : (!torch.vtensor<[3,9],f32>, !torch.int, !torch.vtensor<[2],si64>, !torch.int) -> !torch.vtensor<[3,9],f32>
  return %r : !torch.vtensor<[3,9],f32>
}

// CHECK-LABEL: @largest
// CHECK: torch.aten.scatter.value
// CHECK: torch.aten.scatter_reduce.two
func.func @largest(%x: !torch.vtensor<[9],f32>, %i: !torch.vtensor<[2],si64>, %v: !torch.vtensor<[2],f32>) -> !torch.vtensor<[9],f32> {
  %dim = torch.constant.int 0
  %kind = torch.constant.str "amax"
  %with_self = torch.constant.bool false
  %r = torch.operator "torch.aten.index_reduce"(%x, %dim, %i, %v, %kind, %with_self) : (!torch.vtensor<[9],f32>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2],f32>, !torch.str, !torch.bool) -> !torch.vtensor<[9],f32>
  return %r : !torch.vtensor<[9],f32>
}

// CHECK-LABEL: @mean_of_integers
// CHECK: aten.index_reduce
func.func @mean_of_integers(%x: !torch.vtensor<[9],si64>, %i: !torch.vtensor<[2],si64>, %v: !torch.vtensor<[2],si64>) -> !torch.vtensor<[9],si64> {
  %dim = torch.constant.int 0
  %kind = torch.constant.str "mean"
  %with_self = torch.constant.bool true
  %r = torch.operator "torch.aten.index_reduce"(%x, %dim, %i, %v, %kind, %with_self) : (!torch.vtensor<[9],si64>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>, !torch.str, !torch.bool) -> !torch.vtensor<[9],si64>
  return %r : !torch.vtensor<[9],si64>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-search-sorted)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @rows
// CHECK: torch.aten.ge.Tensor {{.*}} -> !torch.vtensor<[3,?,9],i1>
// CHECK: torch.aten.logical_not
// CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[3,?],si64>
func.func @rows(%s: !torch.vtensor<[3,9],f32>, %v: !torch.vtensor<[3,?],f32>) -> !torch.vtensor<[3,?],si64> {
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r = torch.operator "torch.aten.searchsorted.Tensor"(%s, %v, %no, %no, %none, %none) : (!torch.vtensor<[3,9],f32>, !torch.vtensor<[3,?],f32>, !torch.bool, !torch.bool, !torch.none, !torch.none) -> !torch.vtensor<[3,?],si64>
  return %r : !torch.vtensor<[3,?],si64>
}

// CHECK-LABEL: @to_the_right
// CHECK: torch.aten.gt.Scalar {{.*}} -> !torch.vtensor<[9],i1>
// CHECK: torch.aten.to.dtype {{.*}} -> !torch.vtensor<[],si32>
func.func @to_the_right(%s: !torch.vtensor<[9],f32>) -> !torch.vtensor<[],si32> {
  %no = torch.constant.bool false
  %narrow = torch.constant.bool true
  %v = torch.constant.float 0.5
  %none = torch.constant.none
  %side = torch.constant.str "right"
  %r = torch.operator "torch.aten.searchsorted.Scalar"(%s, %v, %narrow, %no, %side, %none) : (!torch.vtensor<[9],f32>, !torch.float, !torch.bool, !torch.bool, !torch.str, !torch.none) -> !torch.vtensor<[],si32>
  return %r : !torch.vtensor<[],si32>
}

// CHECK-LABEL: @sorter
// CHECK: aten.searchsorted.Tensor
func.func @sorter(%s: !torch.vtensor<[9],f32>, %v: !torch.vtensor<[4],f32>, %order: !torch.vtensor<[9],si64>) -> !torch.vtensor<[4],si64> {
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r = torch.operator "torch.aten.searchsorted.Tensor"(%s, %v, %no, %no, %none, %order) : (!torch.vtensor<[9],f32>, !torch.vtensor<[4],f32>, !torch.bool, !torch.bool, !torch.none, !torch.vtensor<[9],si64>) -> !torch.vtensor<[4],si64>
  return %r : !torch.vtensor<[4],si64>
}

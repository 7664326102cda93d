// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-diff)' | FileCheck %s

// CHECK-LABEL: @steps
// CHECK-NOT: aten.diff
// CHECK-COUNT-2: torch.aten.slice.Tensor
// CHECK: torch.aten.sub.Tensor
func.func @steps(%x: !torch.vtensor<[3,5],si64>) -> !torch.vtensor<[3,4],si64> {
  %n = torch.constant.int 1
  %none = torch.constant.none
  %d = torch.operator "torch.aten.diff"(%x, %n, %n, %none, %none)
      : (!torch.vtensor<[3,5],si64>, !torch.int, !torch.int, !torch.none, !torch.none) -> !torch.vtensor<[3,4],si64>
  return %d : !torch.vtensor<[3,4],si64>
}

// Along a dimension that it does not have, it is left to whoever reports it.
// CHECK-LABEL: @no_such_dimension
// CHECK: torch.operator "torch.aten.diff"
func.func @no_such_dimension(%x: !torch.vtensor<[3,5],si64>) -> !torch.vtensor<[3,4],si64> {
  %n = torch.constant.int 1
  %dim = torch.constant.int 7
  %none = torch.constant.none
  %d = torch.operator "torch.aten.diff"(%x, %n, %dim, %none, %none)
      : (!torch.vtensor<[3,5],si64>, !torch.int, !torch.int, !torch.none, !torch.none) -> !torch.vtensor<[3,4],si64>
  return %d : !torch.vtensor<[3,4],si64>
}

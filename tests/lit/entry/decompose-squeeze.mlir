// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-squeeze)' | FileCheck %s

// CHECK-LABEL: @two
// CHECK: torch.aten.squeeze.dim {{.*}} -> !torch.vtensor<[1,5],f32>
// CHECK: torch.aten.squeeze.dim {{.*}} -> !torch.vtensor<[5],f32>
// CHECK-NOT: torch.operator
func.func @two(%x: !torch.vtensor<[1,5,1],f32>) -> !torch.vtensor<[5],f32> {
  %a = torch.constant.int 0
  %b = torch.constant.int -1
  %dims = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.squeeze.dims"(%x, %dims) : (!torch.vtensor<[1,5,1],f32>, !torch.list<int>) -> !torch.vtensor<[5],f32>
  return %r : !torch.vtensor<[5],f32>
}

// A dimension of another size stays.
// CHECK-LABEL: @stays
// CHECK: return %{{arg[0-9]+|x}}
func.func @stays(%x: !torch.vtensor<[1,5],f32>) -> !torch.vtensor<[1,5],f32> {
  %a = torch.constant.int 1
  %dims = torch.prim.ListConstruct %a : (!torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.squeeze.dims"(%x, %dims) : (!torch.vtensor<[1,5],f32>, !torch.list<int>) -> !torch.vtensor<[1,5],f32>
  return %r : !torch.vtensor<[1,5],f32>
}

// Of unknown size, it is left to whoever reports it.
// CHECK-LABEL: @unknown
// CHECK: torch.operator "torch.aten.squeeze.dims"
func.func @unknown(%x: !torch.vtensor<[?,5],f32>) -> !torch.vtensor<[5],f32> {
  %a = torch.constant.int 0
  %dims = torch.prim.ListConstruct %a : (!torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.squeeze.dims"(%x, %dims) : (!torch.vtensor<[?,5],f32>, !torch.list<int>) -> !torch.vtensor<[5],f32>
  return %r : !torch.vtensor<[5],f32>
}

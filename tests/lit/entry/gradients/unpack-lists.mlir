// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-unpack-lists)' | FileCheck %s

// CHECK-LABEL: func.func @halved
// CHECK:          torch.aten.mul.Scalar %arg0
// CHECK:          torch.aten.mul.Scalar %arg1
// CHECK-NOT:      _foreach_mul
func.func @halved(%x: !torch.vtensor<[4,5],f32>, %y: !torch.vtensor<[5],f32>) -> (!torch.vtensor<[4,5],f32>, !torch.vtensor<[5],f32>) {
  %s = torch.constant.float 0.5
  %l = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4,5],f32>, !torch.vtensor<[5],f32>) -> !torch.list<vtensor>
  %m = torch.operator "torch.aten._foreach_mul.Scalar"(%l, %s) : (!torch.list<vtensor>, !torch.float) -> !torch.list<vtensor>
  %r:2 = torch.prim.ListUnpack %m : !torch.list<vtensor> -> !torch.vtensor<[4,5],f32>, !torch.vtensor<[5],f32>
  return %r#0, %r#1 : !torch.vtensor<[4,5],f32>, !torch.vtensor<[5],f32>
}

// Integers were not tried.
// CHECK-LABEL: func.func @silent
// CHECK:          _foreach_mul
func.func @silent(%x: !torch.vtensor<[4],si64>, %y: !torch.vtensor<[5],si64>) -> (!torch.vtensor<[4],si64>, !torch.vtensor<[5],si64>) {
  %s = torch.constant.float 0.5
  %l = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4],si64>, !torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %m = torch.operator "torch.aten._foreach_mul.Scalar"(%l, %s) : (!torch.list<vtensor>, !torch.float) -> !torch.list<vtensor>
  %r:2 = torch.prim.ListUnpack %m : !torch.list<vtensor> -> !torch.vtensor<[4],si64>, !torch.vtensor<[5],si64>
  return %r#0, %r#1 : !torch.vtensor<[4],si64>, !torch.vtensor<[5],si64>
}

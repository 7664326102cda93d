// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-type-weights)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: func.func @unknown
// CHECK:         torch.tensor_static_info_cast {{.*}} to !torch.vtensor<[3,4],f32>
// CHECK:         torch.aten.rms_norm
func.func @unknown(%x: !torch.vtensor<[?,?,?],f32>, %w: !torch.vtensor<[?,4],f32>) -> !torch.vtensor<[?,3,4],f32> {
  %three = torch.constant.int 3
  %four = torch.constant.int 4
  %e = torch.constant.float 1.000000e-05
  %k = torch.prim.ListConstruct %three, %four : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.rms_norm %x, %k, %w, %e : !torch.vtensor<[?,?,?],f32>, !torch.list<int>, !torch.vtensor<[?,4],f32>, !torch.float -> !torch.vtensor<[?,3,4],f32>
  return %r : !torch.vtensor<[?,3,4],f32>
}

// CHECK-LABEL: func.func @known
// CHECK-NOT:     cast
func.func @known(%x: !torch.vtensor<[?,?,?],f32>, %w: !torch.vtensor<[4],f32>) -> !torch.vtensor<[?,?,4],f32> {
  %four = torch.constant.int 4
  %e = torch.constant.float 1.000000e-05
  %k = torch.prim.ListConstruct %four : (!torch.int) -> !torch.list<int>
  %r = torch.aten.rms_norm %x, %k, %w, %e : !torch.vtensor<[?,?,?],f32>, !torch.list<int>, !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[?,?,4],f32>
  return %r : !torch.vtensor<[?,?,4],f32>
}

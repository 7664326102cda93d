// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-write-epsilons)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @default
// CHECK:         %[[LEAST:.*]] = torch.constant.float 1.1920928955078125E-7
// CHECK:         torch.aten.rms_norm %arg0, %{{.*}}, %{{.*}}, %[[LEAST]] {{.*}} -> !torch.vtensor<[2,4],f16>
func.func @default(%x: !torch.vtensor<[2,4],f16>) -> !torch.vtensor<[2,4],f16> {
  %four = torch.constant.int 4
  %none = torch.constant.none
  %shape = torch.prim.ListConstruct %four : (!torch.int) -> !torch.list<int>
  %r = torch.aten.rms_norm %x, %shape, %none, %none : !torch.vtensor<[2,4],f16>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[2,4],f16>
  return %r : !torch.vtensor<[2,4],f16>
}

// Floats with an epsilon of their own are left alone.
// CHECK-LABEL: @given
// CHECK-NOT:     1.19209
// CHECK:         return
func.func @given(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32> {
  %four = torch.constant.int 4
  %none = torch.constant.none
  %eps = torch.constant.float 1.0e-5
  %shape = torch.prim.ListConstruct %four : (!torch.int) -> !torch.list<int>
  %r = torch.aten.rms_norm %x, %shape, %none, %eps : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.none, !torch.float -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

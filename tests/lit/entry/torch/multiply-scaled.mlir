// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-multiply-scaled)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: func.func @scaled
// CHECK:         torch.aten.mm {{.*}} -> !torch.vtensor<[?,16],f32>
// CHECK-COUNT-2: torch.aten.mul.Tensor {{.*}} -> !torch.vtensor<[?,16],f32>
// CHECK:         torch.aten.to.dtype {{.*}} -> !torch.vtensor<[?,16],bf16>
func.func @scaled(%x: !torch.vtensor<[?,16],f8E4M3FN>, %y: !torch.vtensor<[16,16],f8E5M2>, %s: !torch.vtensor<[?,1],f32>, %t: !torch.vtensor<[],f32>) -> !torch.vtensor<[?,16],bf16> {
  %none = torch.constant.none
  %bf16 = torch.constant.int 15
  %false = torch.constant.bool false
  %r = torch.aten._scaled_mm %x, %y, %s, %t, %none, %none, %bf16, %false : !torch.vtensor<[?,16],f8E4M3FN>, !torch.vtensor<[16,16],f8E5M2>, !torch.vtensor<[?,1],f32>, !torch.vtensor<[],f32>, !torch.none, !torch.none, !torch.int, !torch.bool -> !torch.vtensor<[?,16],bf16>
  return %r : !torch.vtensor<[?,16],bf16>
}

// The result is rounded to 8 bits.
// CHECK-LABEL: func.func @narrow
// CHECK:         torch.aten._scaled_mm
func.func @narrow(%x: !torch.vtensor<[?,16],f8E4M3FN>, %y: !torch.vtensor<[16,16],f8E4M3FN>, %s: !torch.vtensor<[],f32>) -> !torch.vtensor<[?,16],f8E4M3FN> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %r = torch.aten._scaled_mm %x, %y, %s, %s, %none, %none, %none, %false : !torch.vtensor<[?,16],f8E4M3FN>, !torch.vtensor<[16,16],f8E4M3FN>, !torch.vtensor<[],f32>, !torch.vtensor<[],f32>, !torch.none, !torch.none, !torch.none, !torch.bool -> !torch.vtensor<[?,16],f8E4M3FN>
  return %r : !torch.vtensor<[?,16],f8E4M3FN>
}

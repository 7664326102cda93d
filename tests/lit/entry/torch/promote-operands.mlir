// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-promote-operands)' | FileCheck %s

// CHECK-LABEL: func.func @clamped
// CHECK:         %[[X:.*]] = torch.aten.to.dtype %arg0, {{.*}} -> !torch.vtensor<[?],f32>
// CHECK:         torch.aten.clamp %[[X]]
func.func @clamped(%x: !torch.vtensor<[?],si64>) -> !torch.vtensor<[?],f32> {
  %less = torch.constant.float -2.500000e+00
  %more = torch.constant.float 2.500000e+00
  %r = torch.aten.clamp %x, %less, %more : !torch.vtensor<[?],si64>, !torch.float, !torch.float -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// CHECK-LABEL: func.func @silent
// CHECK-NOT:     to.dtype
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[?],si64>, %y: !torch.vtensor<[?],f32>) -> (!torch.vtensor<[?],si64>, !torch.vtensor<[?],f32>) {
  %less = torch.constant.int -2
  %none = torch.constant.none
  %r = torch.aten.clamp %x, %less, %none : !torch.vtensor<[?],si64>, !torch.int, !torch.none -> !torch.vtensor<[?],si64>
  %s = torch.aten.clamp %y, %less, %none : !torch.vtensor<[?],f32>, !torch.int, !torch.none -> !torch.vtensor<[?],f32>
  return %r, %s : !torch.vtensor<[?],si64>, !torch.vtensor<[?],f32>
}

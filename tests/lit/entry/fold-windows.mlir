// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-fold-windows)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @hann
// CHECK: torch.vtensor.literal(dense<[0.000000e+00, 5.000000e-01, 1.000000e+00, 5.000000e-01]> : tensor<4xf32>)
func.func @hann() -> !torch.vtensor<[4],f32> {
  %n = torch.constant.int 4
  %none = torch.constant.none
  %r = torch.operator "torch.aten.hann_window"(%n, %none, %none, %none, %none) : (!torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: @unknown
// CHECK: torch.operator "torch.aten.hann_window"
func.func @unknown(%n: !torch.int) -> !torch.vtensor<[?],f32> {
  %none = torch.constant.none
  %r = torch.operator "torch.aten.hann_window"(%n, %none, %none, %none, %none) : (!torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

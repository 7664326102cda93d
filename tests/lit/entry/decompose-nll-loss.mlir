// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-nll-loss)' | FileCheck %s

// CHECK-LABEL: @loss
// CHECK-NOT: cross_entropy_loss
// CHECK: torch.aten.gather
func.func @loss(%x: !torch.vtensor<[3,5],f32>, %t: !torch.vtensor<[3],si64>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %mean = torch.constant.int 1
  %ignored = torch.constant.int -100
  %smoothing = torch.constant.float 0.0
  %l = torch.aten.cross_entropy_loss %x, %t, %none, %mean, %ignored, %smoothing
      : !torch.vtensor<[3,5],f32>, !torch.vtensor<[3],si64>, !torch.none, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[],f32>
  return %l : !torch.vtensor<[],f32>
}

// Smoothed labels are another sum: the op is left alone.
// CHECK-LABEL: @smoothed
// CHECK: torch.aten.cross_entropy_loss
func.func @smoothed(%x: !torch.vtensor<[3,5],f32>, %t: !torch.vtensor<[3],si64>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %mean = torch.constant.int 1
  %ignored = torch.constant.int -100
  %smoothing = torch.constant.float 0.1
  %l = torch.aten.cross_entropy_loss %x, %t, %none, %mean, %ignored, %smoothing
      : !torch.vtensor<[3,5],f32>, !torch.vtensor<[3],si64>, !torch.none, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[],f32>
  return %l : !torch.vtensor<[],f32>
}

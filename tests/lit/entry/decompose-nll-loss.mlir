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

// Smoothed labels add the mean over the classes.
// CHECK-LABEL: @smoothed
// CHECK-NOT: cross_entropy_loss
// CHECK: torch.aten.gather
// CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[?],f32>
func.func @smoothed(%x: !torch.vtensor<[?,5],f32>, %t: !torch.vtensor<[?],si64>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %reduction = torch.constant.int 1
  %ignored = torch.constant.int -100
  %smoothing = torch.constant.float 0.1
  %l = torch.aten.cross_entropy_loss %x, %t, %none, %reduction, %ignored, %smoothing
      : !torch.vtensor<[?,5],f32>, !torch.vtensor<[?],si64>, !torch.none, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[],f32>
  return %l : !torch.vtensor<[],f32>
}

// CHECK-LABEL: @probabilities
// CHECK-NOT: torch.aten.gather
// CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[?,7],f32>
func.func @probabilities(%x: !torch.vtensor<[?,5,7],f32>, %t: !torch.vtensor<[?,5,7],f32>) -> !torch.vtensor<[?,7],f32> {
  %none = torch.constant.none
  %reduction = torch.constant.int 0
  %ignored = torch.constant.int -100
  %smoothing = torch.constant.float 0.0
  %l = torch.aten.cross_entropy_loss %x, %t, %none, %reduction, %ignored, %smoothing
      : !torch.vtensor<[?,5,7],f32>, !torch.vtensor<[?,5,7],f32>, !torch.none, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[?,7],f32>
  return %l : !torch.vtensor<[?,7],f32>
}

// torch adds no weights up where it keeps the loss of each place.
// CHECK-LABEL: @places
// CHECK-NOT: nll_loss2d_forward
// CHECK: torch.aten.gather {{.*}} -> !torch.vtensor<[?,1,?,?],f32>
// CHECK: torch.vtensor.literal(dense<0.0
func.func @places(%x: !torch.vtensor<[?,5,?,?],f32>, %t: !torch.vtensor<[?,?,?],si64>) -> (!torch.vtensor<[?,?,?],f32>, !torch.vtensor<[],f32>) {
  %none = torch.constant.none
  %reduction = torch.constant.int 0
  %ignored = torch.constant.int 255
  %l:2 = torch.aten.nll_loss2d_forward %x, %t, %none, %reduction, %ignored
      : !torch.vtensor<[?,5,?,?],f32>, !torch.vtensor<[?,?,?],si64>, !torch.none, !torch.int, !torch.int -> !torch.vtensor<[?,?,?],f32>, !torch.vtensor<[],f32>
  return %l#0, %l#1 : !torch.vtensor<[?,?,?],f32>, !torch.vtensor<[],f32>
}

// What counts as nothing must be known.
// CHECK-LABEL: @number_not_known
// CHECK: torch.aten.cross_entropy_loss
func.func @number_not_known(%x: !torch.vtensor<[3,5],f32>, %t: !torch.vtensor<[3],si64>, %ignored: !torch.int) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %reduction = torch.constant.int 1
  // of the call
  %smoothing = torch.constant.float 0.0
  %l = torch.aten.cross_entropy_loss %x, %t, %none, %reduction, %ignored, %smoothing
      : !torch.vtensor<[3,5],f32>, !torch.vtensor<[3],si64>, !torch.none, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[],f32>
  return %l : !torch.vtensor<[],f32>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-write-out-losses)' | FileCheck %s

// CHECK-LABEL: func.func @huber
// CHECK:         torch.aten.abs
// CHECK:         torch.aten.where.self
// CHECK:         torch.aten.mean
// CHECK-NOT:     huber_loss
func.func @huber(%x: !torch.vtensor<[?,7],f32>, %y: !torch.vtensor<[?,7],f32>) -> !torch.vtensor<[],f32> {
  %mean = torch.constant.int 1
  %delta = torch.constant.float 0.5
  %r = torch.operator "torch.aten.huber_loss"(%x, %y, %mean, %delta) : (!torch.vtensor<[?,7],f32>, !torch.vtensor<[?,7],f32>, !torch.int, !torch.float) -> !torch.vtensor<[],f32>
  return %r : !torch.vtensor<[],f32>
}

// The weight of each class is broadcast; there is nothing to reduce.
// CHECK-LABEL: func.func @weighted
// CHECK:         torch.aten.log1p
// CHECK:         torch.aten.mul.Tensor %{{.*}}, %arg2
// CHECK-NOT:     binary_cross_entropy
// CHECK-NOT:     aten.mean
func.func @weighted(%x: !torch.vtensor<[?,7],f32>, %y: !torch.vtensor<[?,7],f32>, %w: !torch.vtensor<[7],f32>) -> !torch.vtensor<[?,7],f32> {
  %all = torch.constant.int 0
  %r = torch.aten.binary_cross_entropy %x, %y, %w, %all : !torch.vtensor<[?,7],f32>, !torch.vtensor<[?,7],f32>, !torch.vtensor<[7],f32>, !torch.int -> !torch.vtensor<[?,7],f32>
  return %r : !torch.vtensor<[?,7],f32>
}

// CHECK-LABEL: func.func @poisson
// CHECK:         torch.aten.exp
// CHECK:         torch.aten.gt.Scalar
// CHECK-NOT:     poisson_nll_loss
func.func @poisson(%x: !torch.vtensor<[],f32>, %y: !torch.vtensor<[],f32>) -> !torch.vtensor<[],f32> {
  %true = torch.constant.bool true
  %eps = torch.constant.float 1.0e-8
  %mean = torch.constant.int 1
  %r = torch.aten.poisson_nll_loss %x, %y, %true, %true, %eps, %mean : !torch.vtensor<[],f32>, !torch.vtensor<[],f32>, !torch.bool, !torch.bool, !torch.float, !torch.int -> !torch.vtensor<[],f32>
  return %r : !torch.vtensor<[],f32>
}

// An unknown size beside a known one: which is broadcast is not known.
// CHECK-LABEL: func.func @silent
// CHECK:         torch.aten.huber_loss
func.func @silent(%x: !torch.vtensor<[?,7],f32>, %y: !torch.vtensor<[3,7],f32>) -> !torch.vtensor<[],f32> {
  %mean = torch.constant.int 1
  %delta = torch.constant.float 0.5
  %r = torch.operator "torch.aten.huber_loss"(%x, %y, %mean, %delta) : (!torch.vtensor<[?,7],f32>, !torch.vtensor<[3,7],f32>, !torch.int, !torch.float) -> !torch.vtensor<[],f32>
  return %r : !torch.vtensor<[],f32>
}

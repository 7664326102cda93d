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

// Tensors of different shapes would be broadcast.
// CHECK-LABEL: func.func @silent
// CHECK:         torch.aten.huber_loss
func.func @silent(%x: !torch.vtensor<[?,7],f32>, %y: !torch.vtensor<[7],f32>) -> !torch.vtensor<[],f32> {
  %mean = torch.constant.int 1
  %delta = torch.constant.float 0.5
  %r = torch.operator "torch.aten.huber_loss"(%x, %y, %mean, %delta) : (!torch.vtensor<[?,7],f32>, !torch.vtensor<[7],f32>, !torch.int, !torch.float) -> !torch.vtensor<[],f32>
  return %r : !torch.vtensor<[],f32>
}

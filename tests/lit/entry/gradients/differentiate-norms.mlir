// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-differentiate-norms)' | FileCheck %s

// CHECK-LABEL: func.func @batch
// CHECK:          torch.aten.mean.dim
// CHECK:          torch.aten.sum.dim_IntList
// CHECK-NOT:      native_batch_norm_backward
func.func @batch(%g: !torch.vtensor<[?,4,6],f32>, %x: !torch.vtensor<[?,4,6],f32>, %w: !torch.vtensor<[4],f32>, %m: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[?,4,6],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %no = torch.constant.none
  %yes = torch.constant.bool true
  %eps = torch.constant.float 1.0e-05
  %all = torch.prim.ListConstruct %yes, %yes, %yes : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
  %r:3 = torch.aten.native_batch_norm_backward %g, %x, %w, %no, %no, %m, %m, %yes, %eps, %all : !torch.vtensor<[?,4,6],f32>, !torch.vtensor<[?,4,6],f32>, !torch.vtensor<[4],f32>, !torch.none, !torch.none, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.bool, !torch.float, !torch.list<bool> -> !torch.vtensor<[?,4,6],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
  return %r#0, %r#1, %r#2 : !torch.vtensor<[?,4,6],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}

// Without the statistics of the forward op.
// CHECK-LABEL: func.func @silent
// CHECK:          native_batch_norm_backward
func.func @silent(%g: !torch.vtensor<[?,4,6],f32>, %x: !torch.vtensor<[?,4,6],f32>, %w: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[?,4,6],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %no = torch.constant.none
  %yes = torch.constant.bool true
  %eps = torch.constant.float 1.0e-05
  %all = torch.prim.ListConstruct %yes, %yes, %yes : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
  %r:3 = torch.aten.native_batch_norm_backward %g, %x, %w, %no, %no, %no, %no, %yes, %eps, %all : !torch.vtensor<[?,4,6],f32>, !torch.vtensor<[?,4,6],f32>, !torch.vtensor<[4],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.float, !torch.list<bool> -> !torch.vtensor<[?,4,6],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
  return %r#0, %r#1, %r#2 : !torch.vtensor<[?,4,6],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}

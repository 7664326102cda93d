// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-add-up-rows)' | FileCheck %s

// CHECK-LABEL: func.func @embedding
// CHECK:          torch.aten.ne.Scalar
// CHECK:          torch.aten.index_put
// CHECK-NOT:      embedding_dense_backward
func.func @embedding(%g: !torch.vtensor<[?,4,8],f32>, %i: !torch.vtensor<[?,4],si64>) -> !torch.vtensor<[10,8],f32> {
  %n = torch.constant.int 10
  %p = torch.constant.int 2
  %f = torch.constant.bool false
  %r = torch.aten.embedding_dense_backward %g, %i, %n, %p, %f : !torch.vtensor<[?,4,8],f32>, !torch.vtensor<[?,4],si64>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[10,8],f32>
  return %r : !torch.vtensor<[10,8],f32>
}

// Each row would be divided by how often it is used.
// CHECK-LABEL: func.func @silent
// CHECK:          embedding_dense_backward
func.func @silent(%g: !torch.vtensor<[?,4,8],f32>, %i: !torch.vtensor<[?,4],si64>) -> !torch.vtensor<[10,8],f32> {
  %n = torch.constant.int 10
  %p = torch.constant.int 2
  %f = torch.constant.bool true
  %r = torch.aten.embedding_dense_backward %g, %i, %n, %p, %f : !torch.vtensor<[?,4,8],f32>, !torch.vtensor<[?,4],si64>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[10,8],f32>
  return %r : !torch.vtensor<[10,8],f32>
}

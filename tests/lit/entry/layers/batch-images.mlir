// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-batch-images)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: func.func @average
// CHECK:         torch.aten.unsqueeze {{.*}} -> !torch.vtensor<[1,4,12],f32>
// CHECK:         torch.aten.avg_pool1d {{.*}} -> !torch.vtensor<[1,4,6],f32>
// CHECK:         torch.aten.squeeze.dim {{.*}} -> !torch.vtensor<[4,6],f32>
func.func @average(%x: !torch.vtensor<[4,12],f32>) -> !torch.vtensor<[4,6],f32> {
  %two = torch.constant.int 2
  %zero = torch.constant.int 0
  %false = torch.constant.bool false
  %k = torch.prim.ListConstruct %two : (!torch.int) -> !torch.list<int>
  %p = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %r = torch.aten.avg_pool1d %x, %k, %k, %p, %false, %false : !torch.vtensor<[4,12],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool -> !torch.vtensor<[4,6],f32>
  return %r : !torch.vtensor<[4,6],f32>
}

// CHECK-LABEL: func.func @convolution
// CHECK:         torch.aten.convolution {{.*}} -> !torch.vtensor<[1,6,?,?],f16>
func.func @convolution(%x: !torch.vtensor<[4,?,?],f16>, %w: !torch.vtensor<[6,4,3,3],f16>) -> !torch.vtensor<[6,?,?],f16> {
  %one = torch.constant.int 1
  %zero = torch.constant.int 0
  %none = torch.constant.none
  %false = torch.constant.bool false
  %s = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %p = torch.prim.ListConstruct %zero, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.convolution %x, %w, %none, %s, %p, %s, %false, %p, %one : !torch.vtensor<[4,?,?],f16>, !torch.vtensor<[6,4,3,3],f16>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[6,?,?],f16>
  return %r : !torch.vtensor<[6,?,?],f16>
}

// A batch.
// CHECK-LABEL: func.func @batch
// CHECK-NOT:     unsqueeze
// CHECK:         torch.aten.avg_pool1d {{.*}} -> !torch.vtensor<[3,4,6],f32>
func.func @batch(%x: !torch.vtensor<[3,4,12],f32>) -> !torch.vtensor<[3,4,6],f32> {
  %two = torch.constant.int 2
  %zero = torch.constant.int 0
  %false = torch.constant.bool false
  %k = torch.prim.ListConstruct %two : (!torch.int) -> !torch.list<int>
  %p = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %r = torch.aten.avg_pool1d %x, %k, %k, %p, %false, %false : !torch.vtensor<[3,4,12],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool -> !torch.vtensor<[3,4,6],f32>
  return %r : !torch.vtensor<[3,4,6],f32>
}

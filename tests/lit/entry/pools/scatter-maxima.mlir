// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-scatter-maxima)' 2>/dev/null | FileCheck %s

// Each channel has its own places.
// CHECK-LABEL: @channels
// CHECK:         %[[ZEROS:.*]] = torch.aten.full {{.*}} -> !torch.vtensor<[6,25],f32>
// CHECK:         torch.aten.scatter.src %[[ZEROS]], {{.*}} -> !torch.vtensor<[6,25],f32>
// CHECK:         torch.aten.view {{.*}} -> !torch.vtensor<[2,3,5,5],f32>
func.func @channels(%x: !torch.vtensor<[2,3,2,2],f32>, %i: !torch.vtensor<[2,3,2,2],si64>) -> !torch.vtensor<[2,3,5,5],f32> {
  %five = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %five, %five : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.max_unpool2d %x, %i, %sizes : !torch.vtensor<[2,3,2,2],f32>, !torch.vtensor<[2,3,2,2],si64>, !torch.list<int> -> !torch.vtensor<[2,3,5,5],f32>
  return %r : !torch.vtensor<[2,3,5,5],f32>
}

// Sizes that are not known are left to IREE.
// CHECK-LABEL: @unknown
// CHECK:         torch.aten.max_unpool2d
func.func @unknown(%x: !torch.vtensor<[?,3,2,2],f32>, %i: !torch.vtensor<[?,3,2,2],si64>) -> !torch.vtensor<[?,3,5,5],f32> {
  %five = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %five, %five : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.max_unpool2d %x, %i, %sizes : !torch.vtensor<[?,3,2,2],f32>, !torch.vtensor<[?,3,2,2],si64>, !torch.list<int> -> !torch.vtensor<[?,3,5,5],f32>
  return %r : !torch.vtensor<[?,3,5,5],f32>
}

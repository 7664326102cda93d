// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-expand-grids)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @grid
// CHECK-NOT:     torch.aten.meshgrid
// CHECK:         %[[ROWS:.*]] = torch.aten.unsqueeze %arg0, %{{.*}} -> !torch.vtensor<[3,1],si64>
// CHECK:         torch.aten.broadcast_to %[[ROWS]], %{{.*}} -> !torch.vtensor<[3,4],si64>
// CHECK:         %[[COLUMNS:.*]] = torch.aten.unsqueeze %arg1, %{{.*}} -> !torch.vtensor<[1,4],si64>
// CHECK:         torch.aten.broadcast_to %[[COLUMNS]], %{{.*}} -> !torch.vtensor<[3,4],si64>
// CHECK-NOT:     torch.aten.meshgrid
func.func @grid(%a: !torch.vtensor<[3],si64>, %b: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],si64>) {
  %0 = torch.prim.ListConstruct %a, %b : (!torch.vtensor<[3],si64>, !torch.vtensor<[4],si64>) -> !torch.list<vtensor>
  %1 = torch.aten.meshgrid %0 : !torch.list<vtensor> -> !torch.list<vtensor>
  %2:2 = torch.prim.ListUnpack %1 : !torch.list<vtensor> -> !torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],si64>
  return %2#0, %2#1 : !torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],si64>
}

// The parts of a split are left alone.
// CHECK-LABEL: @split
// CHECK:         torch.prim.ListUnpack
func.func @split(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[2],f32> {
  %zero = torch.constant.int 0
  %two = torch.constant.int 2
  %0 = torch.aten.split.Tensor %a, %two, %zero : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %1:2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
  return %1#0 : !torch.vtensor<[2],f32>
}

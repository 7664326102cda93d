// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-fill-complex)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @ones
// CHECK:         %[[ONE:.*]] = torch.constant.float 1.000000e+00
// CHECK:         torch.aten.full %{{.*}}, %[[ONE]]
// CHECK-NOT:     torch.aten.new_ones
func.func @ones(%x: !torch.vtensor<[2],complex<f32>>) -> !torch.vtensor<[3],complex<f32>> {
  %n = torch.constant.none
  %three = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %three : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.new_ones %x, %sizes, %n, %n, %n, %n : !torch.vtensor<[2],complex<f32>>, !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],complex<f32>>
  return %0 : !torch.vtensor<[3],complex<f32>>
}

// CHECK-LABEL: @silent
// CHECK:         torch.aten.new_ones
// CHECK-NOT:     torch.aten.full
func.func @silent(%x: !torch.vtensor<[2],complex<f32>>) -> !torch.vtensor<[3],f32> {
  %n = torch.constant.none
  %six = torch.constant.int 6
  %three = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %three : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.new_ones %x, %sizes, %six, %n, %n, %n : !torch.vtensor<[2],complex<f32>>, !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

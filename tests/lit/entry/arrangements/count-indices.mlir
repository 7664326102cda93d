// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-count-indices)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @known
// CHECK:         %[[LAST:.*]] = torch.constant.int 2
// CHECK:         torch.aten.select_scatter %arg0, %arg1, %{{.*}}, %[[LAST]]
func.func @known(%x: !torch.vtensor<[4,3],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4,3],f32> {
  %dim = torch.constant.int -1
  %index = torch.constant.int -1
  %r = torch.aten.select_scatter %x, %y, %dim, %index : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %r : !torch.vtensor<[4,3],f32>
}

// CHECK-LABEL: @unknown
// CHECK:         %[[SIZE:.*]] = torch.aten.size.int %arg0
// CHECK:         %[[QUOTIENT:.*]] = torch.aten.floordiv.int %arg2, %[[SIZE]]
// CHECK:         %[[WHOLE:.*]] = torch.aten.mul.int %[[QUOTIENT]], %[[SIZE]]
// CHECK:         %[[INDEX:.*]] = torch.aten.sub.int %arg2, %[[WHOLE]]
// CHECK:         torch.aten.select_scatter %arg0, %arg1, %{{.*}}, %[[INDEX]]
func.func @unknown(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[3],f32>, %index: !torch.int) -> !torch.vtensor<[?,3],f32> {
  %dim = torch.constant.int 0
  %r = torch.aten.select_scatter %x, %y, %dim, %index : !torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
  return %r : !torch.vtensor<[?,3],f32>
}

// Of the other indices from the end, IREE writes the slice that they are.
// CHECK-LABEL: @silent
// CHECK:         torch.aten.select_scatter %arg0, %arg1, %{{.*}}, %int-2
// CHECK:         torch.aten.select_scatter %{{.*}}, %arg1, %{{.*}}, %int0
func.func @silent(%x: !torch.vtensor<[4,3],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4,3],f32> {
  %dim = torch.constant.int 1
  %second = torch.constant.int -2
  %first = torch.constant.int 0
  %r = torch.aten.select_scatter %x, %y, %dim, %second : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  %s = torch.aten.select_scatter %r, %y, %dim, %first : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %s : !torch.vtensor<[4,3],f32>
}

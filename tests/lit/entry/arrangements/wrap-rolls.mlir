// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-wrap-rolls)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @known
// CHECK:         %[[THREE:.*]] = torch.constant.int 3
// CHECK:         %[[FOUR:.*]] = torch.constant.int 4
// CHECK:         %[[SHIFTS:.*]] = torch.prim.ListConstruct %[[THREE]], %[[FOUR]]
// CHECK:         torch.aten.roll %arg0, %[[SHIFTS]]
func.func @known(%x: !torch.vtensor<[8,6],f32>) -> !torch.vtensor<[8,6],f32> {
  %0 = torch.constant.int 0
  %m1 = torch.constant.int -1
  %11 = torch.constant.int 11
  %m8 = torch.constant.int -8
  %shifts = torch.prim.ListConstruct %11, %m8 : (!torch.int, !torch.int) -> !torch.list<int>
  %dims = torch.prim.ListConstruct %0, %m1 : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.roll %x, %shifts, %dims : !torch.vtensor<[8,6],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[8,6],f32>
  return %r : !torch.vtensor<[8,6],f32>
}

// CHECK-LABEL: @unknown
// CHECK:         %[[SIZE:.*]] = torch.prim.max.int
// CHECK:         %[[QUOTIENT:.*]] = torch.aten.floordiv.int %arg1, %[[SIZE]]
// CHECK:         %[[WHOLE:.*]] = torch.aten.mul.int %[[QUOTIENT]], %[[SIZE]]
// CHECK:         torch.aten.sub.int %arg1, %[[WHOLE]]
// CHECK:         torch.aten.roll
func.func @unknown(%x: !torch.vtensor<[?],f32>, %shift: !torch.int) -> !torch.vtensor<[?],f32> {
  %0 = torch.constant.int 0
  %shifts = torch.prim.ListConstruct %shift : (!torch.int) -> !torch.list<int>
  %dims = torch.prim.ListConstruct %0 : (!torch.int) -> !torch.list<int>
  %r = torch.aten.roll %x, %shifts, %dims : !torch.vtensor<[?],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// Shifts that the dimension has the places for, and one place.
// CHECK-LABEL: @silent
// CHECK-NOT:     floordiv
func.func @silent(%x: !torch.vtensor<[8,?],f32>) -> !torch.vtensor<[8,?],f32> {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %m7 = torch.constant.int -7
  %shifts = torch.prim.ListConstruct %m7, %1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dims = torch.prim.ListConstruct %0, %1 : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.roll %x, %shifts, %dims : !torch.vtensor<[8,?],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[8,?],f32>
  return %r : !torch.vtensor<[8,?],f32>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-rearrange-tensors)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @transposed
// CHECK-NOT:     aten.mT
// CHECK:         torch.aten.permute %arg0
func.func @transposed(%x: !torch.vtensor<[?,2,3],f32>) -> !torch.vtensor<[?,3,2],f32> {
  %r = torch.operator "torch.aten.mT"(%x) : (!torch.vtensor<[?,2,3],f32>) -> !torch.vtensor<[?,3,2],f32>
  return %r : !torch.vtensor<[?,3,2],f32>
}

// CHECK-LABEL: @stacked
// CHECK-DAG:     %[[X:.*]] = torch.aten.unsqueeze %arg0
// CHECK-DAG:     %[[ROWS:.*]] = torch.prim.ListConstruct %[[X]], %arg1
// CHECK:         torch.aten.cat %[[ROWS]]
func.func @stacked(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[?,4],f32>) -> !torch.vtensor<[?,4],f32> {
  %l = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4],f32>, !torch.vtensor<[?,4],f32>) -> !torch.list<vtensor>
  %r = torch.operator "torch.aten.vstack"(%l) : (!torch.list<vtensor>) -> !torch.vtensor<[?,4],f32>
  return %r : !torch.vtensor<[?,4],f32>
}

// The parts are slices, and what unpacked the list is gone.
// CHECK-LABEL: @split
// CHECK:         %[[FIRST:.*]] = torch.aten.slice.Tensor %arg0{{.*}} -> !torch.vtensor<[4,2],f32>
// CHECK:         %[[LAST:.*]] = torch.aten.slice.Tensor %arg0{{.*}} -> !torch.vtensor<[4,3],f32>
// CHECK-NOT:     ListUnpack
// CHECK:         return %[[FIRST]], %[[LAST]]
func.func @split(%x: !torch.vtensor<[4,5],f32>) -> (!torch.vtensor<[4,2],f32>, !torch.vtensor<[4,3],f32>) {
  %minus = torch.constant.int -3
  %at = torch.prim.ListConstruct %minus : (!torch.int) -> !torch.list<int>
  %l = torch.operator "torch.aten.hsplit.array"(%x, %at) : (!torch.vtensor<[4,5],f32>, !torch.list<int>) -> !torch.list<vtensor>
  %r:2 = torch.prim.ListUnpack %l : !torch.list<vtensor> -> !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,3],f32>
  return %r#0, %r#1 : !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,3],f32>
}

// A negative position counts from the end.
// CHECK-LABEL: @taken
// CHECK:         %[[ALL:.*]] = torch.aten.flatten.using_ints %arg0
// CHECK:         %[[AT:.*]] = torch.aten.where.self
// CHECK:         torch.aten.index_select %[[ALL]], %{{.*}}, %[[AT]]
func.func @taken(%x: !torch.vtensor<[3,4],f16>, %i: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2],f16> {
  %r = torch.operator "torch.aten.take"(%x, %i) : (!torch.vtensor<[3,4],f16>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[2],f16>
  return %r : !torch.vtensor<[2],f16>
}

// CHECK-LABEL: @itself
// CHECK-NEXT:    return %arg0
func.func @itself(%x: !torch.vtensor<[4],si32>) -> !torch.vtensor<[4],si32> {
  %r = torch.operator "torch.aten.positive"(%x) : (!torch.vtensor<[4],si32>) -> !torch.vtensor<[4],si32>
  return %r : !torch.vtensor<[4],si32>
}

// A roll along a dimension is lowered; complex elements would have to be conjugated; a size is not known, or may be 1.
// CHECK-LABEL: @left
// CHECK:         torch.aten.roll
// CHECK:         torch.aten.mH
// CHECK:         torch.aten.unsafe_chunk
// CHECK:         torch.prim.ListUnpack
// CHECK:         torch.aten.take_along_dim
// CHECK-NOT:     torch.aten
func.func @left(%x: !torch.vtensor<[4],f32>, %c: !torch.vtensor<[2,3],complex<f32>>, %d: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?,3],si64>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[3,2],complex<f32>>, !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>) {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %zeros = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %ones = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %r = torch.aten.roll %x, %ones, %zeros : !torch.vtensor<[4],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[4],f32>
  %h = torch.operator "torch.aten.mH"(%c) : (!torch.vtensor<[2,3],complex<f32>>) -> !torch.vtensor<[3,2],complex<f32>>
  %l = torch.operator "torch.aten.unsafe_chunk"(%d, %two, %zero) : (!torch.vtensor<[?,3],f32>, !torch.int, !torch.int) -> !torch.list<vtensor>
  %p:2 = torch.prim.ListUnpack %l : !torch.list<vtensor> -> !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>
  %t = torch.operator "torch.aten.take_along_dim"(%d, %i, %one) : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],si64>, !torch.int) -> !torch.vtensor<[?,3],f32>
  return %r, %h, %p#0, %t : !torch.vtensor<[4],f32>, !torch.vtensor<[3,2],complex<f32>>, !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>
}

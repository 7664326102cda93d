// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-type-shuffles)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: func.func @smaller
// CHECK:         torch.aten.pixel_unshuffle {{.*}} -> !torch.vtensor<[4,24,?,4],si64>
// CHECK:         torch.tensor_static_info_cast {{.*}} to !torch.vtensor<[4,?,?,?],si64>
func.func @smaller(%x: !torch.vtensor<[4,6,?,8],si64>) -> !torch.vtensor<[4,?,?,?],si64> {
  %two = torch.constant.int 2
  %r = torch.aten.pixel_unshuffle %x, %two : !torch.vtensor<[4,6,?,8],si64>, !torch.int -> !torch.vtensor<[4,?,?,?],si64>
  return %r : !torch.vtensor<[4,?,?,?],si64>
}

// CHECK-LABEL: func.func @larger
// CHECK:         torch.aten.pixel_shuffle {{.*}} -> !torch.vtensor<[2,12,?],f32>
func.func @larger(%x: !torch.vtensor<[8,6,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %two = torch.constant.int 2
  %r = torch.aten.pixel_shuffle %x, %two : !torch.vtensor<[8,6,?],f32>, !torch.int -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// The result has the sizes of the operand.
// CHECK-LABEL: func.func @known
// CHECK-NOT:     cast
func.func @known(%x: !torch.vtensor<[?,8,?,?],f32>) -> !torch.vtensor<[?,2,?,?],f32> {
  %two = torch.constant.int 2
  %r = torch.aten.pixel_shuffle %x, %two : !torch.vtensor<[?,8,?,?],f32>, !torch.int -> !torch.vtensor<[?,2,?,?],f32>
  return %r : !torch.vtensor<[?,2,?,?],f32>
}

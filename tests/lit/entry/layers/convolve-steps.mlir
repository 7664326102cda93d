// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-convolve-steps)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: func.func @steps
// CHECK:         torch.aten.permute {{.*}} -> !torch.vtensor<[4,5,?],f32>
// CHECK:         torch.aten.permute {{.*}} -> !torch.vtensor<[6,5,3],f32>
// CHECK:         torch.aten.conv1d {{.*}} -> !torch.vtensor<[4,6,?],f32>
// CHECK:         torch.aten.permute {{.*}} -> !torch.vtensor<[?,4,6],f32>
func.func @steps(%x: !torch.vtensor<[?,4,5],f32>, %w: !torch.vtensor<[3,5,6],f32>, %b: !torch.vtensor<[6],f32>) -> !torch.vtensor<[?,4,6],f32> {
  %pad = torch.constant.int 1
  %r = torch.aten.conv_tbc %x, %w, %b, %pad : !torch.vtensor<[?,4,5],f32>, !torch.vtensor<[3,5,6],f32>, !torch.vtensor<[6],f32>, !torch.int -> !torch.vtensor<[?,4,6],f32>
  return %r : !torch.vtensor<[?,4,6],f32>
}

// The padding is not known.
// CHECK-LABEL: func.func @unknown_padding
// CHECK:         torch.aten.conv_tbc
func.func @unknown_padding(%x: !torch.vtensor<[?,4,5],f32>, %w: !torch.vtensor<[3,5,6],f32>, %b: !torch.vtensor<[6],f32>, %pad: !torch.int) -> !torch.vtensor<[?,4,6],f32> {
  %r = torch.aten.conv_tbc %x, %w, %b, %pad : !torch.vtensor<[?,4,5],f32>, !torch.vtensor<[3,5,6],f32>, !torch.vtensor<[6],f32>, !torch.int -> !torch.vtensor<[?,4,6],f32>
  return %r : !torch.vtensor<[?,4,6],f32>
}

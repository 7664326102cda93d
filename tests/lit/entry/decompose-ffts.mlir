// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-ffts)' 2>/dev/null | FileCheck %s

// Real numbers have no imaginary part to multiply.
// CHECK-LABEL: @real
// CHECK-COUNT-2: torch.aten.matmul {{.*}} !torch.vtensor<[8,8],f32> -> !torch.vtensor<[?,8],f32>
// CHECK-NOT: torch.aten.matmul
// CHECK: torch.aten.complex
func.func @real(%x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?,8],complex<f32>> {
  %n = torch.constant.none
  %d = torch.constant.int -1
  %r = torch.aten.fft_fft %x, %n, %d, %n : !torch.vtensor<[?,8],f32>, !torch.none, !torch.int, !torch.none -> !torch.vtensor<[?,8],complex<f32>>
  return %r : !torch.vtensor<[?,8],complex<f32>>
}

// 96 = 8 * 12.
// CHECK-LABEL: @long
// CHECK: torch.aten.unflatten.int {{.*}} -> !torch.vtensor<[8,12],f32>
// CHECK: torch.aten.matmul {{.*}} !torch.vtensor<[8,8],f32>
// CHECK: torch.aten.matmul {{.*}} !torch.vtensor<[12,12],f32>
// CHECK: torch.aten.flatten.using_ints
func.func @long(%x: !torch.vtensor<[96],f32>) -> !torch.vtensor<[96],complex<f32>> {
  %n = torch.constant.none
  %d = torch.constant.int 0
  %r = torch.aten.fft_fft %x, %n, %d, %n : !torch.vtensor<[96],f32>, !torch.none, !torch.int, !torch.none -> !torch.vtensor<[96],complex<f32>>
  return %r : !torch.vtensor<[96],complex<f32>>
}

// CHECK-LABEL: @dynamic
// CHECK: torch.aten.fft_fft
func.func @dynamic(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],complex<f32>> {
  %n = torch.constant.none
  %d = torch.constant.int 0
  %r = torch.aten.fft_fft %x, %n, %d, %n : !torch.vtensor<[?],f32>, !torch.none, !torch.int, !torch.none -> !torch.vtensor<[?],complex<f32>>
  return %r : !torch.vtensor<[?],complex<f32>>
}

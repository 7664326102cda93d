// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-join-parts)' | FileCheck %s

// CHECK-LABEL: func.func @unknown
// CHECK-COUNT-2: torch.aten.select.int
// CHECK:         torch.aten.complex
func.func @unknown(%x: !torch.vtensor<[?,?],f32>) -> !torch.vtensor<[?],complex<f32>> {
  %r = torch.aten.view_as_complex %x : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?],complex<f32>>
  return %r : !torch.vtensor<[?],complex<f32>>
}

// CHECK-LABEL: func.func @silent
// CHECK:         torch.aten.view_as_complex
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?],complex<f32>> {
  %r = torch.aten.view_as_complex %x : !torch.vtensor<[?,2],f32> -> !torch.vtensor<[?],complex<f32>>
  return %r : !torch.vtensor<[?],complex<f32>>
}

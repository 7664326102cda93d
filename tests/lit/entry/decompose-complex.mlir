// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-complex)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @conjugate
// CHECK: torch.aten.neg {{.*}} : !torch.vtensor<[?],f32>
// CHECK: torch.aten.complex
// CHECK-NOT: aten._conj
func.func @conjugate(%x: !torch.vtensor<[?],complex<f32>>) -> !torch.vtensor<[?],complex<f32>> {
  %r = torch.operator "torch.aten._conj"(%x) : (!torch.vtensor<[?],complex<f32>>) -> !torch.vtensor<[?],complex<f32>>
  return %r : !torch.vtensor<[?],complex<f32>>
}

// Floats and complex numbers of 64 bits stay.
// CHECK-LABEL: @others
// CHECK: torch.aten.neg %{{.*}} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
// CHECK: torch.aten.neg %{{.*}} : !torch.vtensor<[4],complex<f64>> -> !torch.vtensor<[4],complex<f64>>
func.func @others(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],complex<f64>>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],complex<f64>>) {
  %r = torch.aten.neg %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %s = torch.aten.neg %y : !torch.vtensor<[4],complex<f64>> -> !torch.vtensor<[4],complex<f64>>
  return %r, %s : !torch.vtensor<[4],f32>, !torch.vtensor<[4],complex<f64>>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-elementwise)' | FileCheck %s

// CHECK-LABEL: @sign
// CHECK: arith.bitcast %{{.*}} : tensor<?x3xf16> to tensor<?x3xi16>
// CHECK: torch.aten.lt.Scalar {{.*}} : !torch.vtensor<[?,3],si16>, !torch.int -> !torch.vtensor<[?,3],i1>
// CHECK-NOT: torch.aten.signbit
func.func @sign(%x: !torch.vtensor<[?,3],f16>) -> !torch.vtensor<[?,3],i1> {
  %r = torch.aten.signbit %x : !torch.vtensor<[?,3],f16> -> !torch.vtensor<[?,3],i1>
  return %r : !torch.vtensor<[?,3],i1>
}

// IREE makes f64 f32 by default: there are no 64 bits to read.
// CHECK-LABEL: @wide
// CHECK: torch.aten.signbit
func.func @wide(%x: !torch.vtensor<[3],f64>) -> !torch.vtensor<[3],i1> {
  %r = torch.aten.signbit %x : !torch.vtensor<[3],f64> -> !torch.vtensor<[3],i1>
  return %r : !torch.vtensor<[3],i1>
}

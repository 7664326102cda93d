// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-special-functions)' | FileCheck %s

// The sides are broadcast: the ratio has the result's shape.
// CHECK-LABEL: @length
// CHECK: torch.aten.maximum {{.*}} : !torch.vtensor<[?,3],f16>, !torch.vtensor<[3],f16> -> !torch.vtensor<[?,3],f16>
// CHECK: torch.aten.sqrt
// CHECK-NOT: aten.hypot
func.func @length(%x: !torch.vtensor<[?,3],f16>, %y: !torch.vtensor<[3],f16>) -> !torch.vtensor<[?,3],f16> {
  %r = torch.operator "torch.aten.hypot"(%x, %y) : (!torch.vtensor<[?,3],f16>, !torch.vtensor<[3],f16>) -> !torch.vtensor<[?,3],f16>
  return %r : !torch.vtensor<[?,3],f16>
}

// PyTorch converts integers first.
// CHECK-LABEL: @whole
// CHECK: torch.operator "torch.aten.sinc"
func.func @whole(%x: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3],f32> {
  %r = torch.operator "torch.aten.sinc"(%x) : (!torch.vtensor<[3],si64>) -> !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[3],f32>
}

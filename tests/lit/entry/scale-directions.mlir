// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-scale-directions)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @speech
// CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[1,1,5],f16>
// CHECK-NOT: _weight_norm
func.func @speech(%v: !torch.vtensor<[3,4,5],f16>, %g: !torch.vtensor<[1,1,5],f16>) -> !torch.vtensor<[3,4,5],f16> {
  %d = torch.constant.int 2
  %r = torch.operator "torch.aten._weight_norm"(%v, %g, %d) : (!torch.vtensor<[3,4,5],f16>, !torch.vtensor<[1,1,5],f16>, !torch.int) -> !torch.vtensor<[3,4,5],f16>
  return %r : !torch.vtensor<[3,4,5],f16>
}

// CHECK-LABEL: @unknown
// CHECK: _weight_norm
func.func @unknown(%v: !torch.vtensor<[3,4],f32>, %g: !torch.vtensor<[3,1],f32>, %d: !torch.int) -> !torch.vtensor<[3,4],f32> {
  %r = torch.operator "torch.aten._weight_norm"(%v, %g, %d) : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,1],f32>, !torch.int) -> !torch.vtensor<[3,4],f32>
  return %r : !torch.vtensor<[3,4],f32>
}

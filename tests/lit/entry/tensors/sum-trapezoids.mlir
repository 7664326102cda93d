// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-sum-trapezoids)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @evenly
// CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[?],f32>
// CHECK: torch.aten.mul.Scalar
func.func @evenly(%y: !torch.vtensor<[?,?],f32>) -> !torch.vtensor<[?],f32> {
  %dx = torch.constant.float 0.5
  %dim = torch.constant.int 1
  %r = torch.operator "torch.aten.trapezoid.dx"(%y, %dx, %dim) : (!torch.vtensor<[?,?],f32>, !torch.float, !torch.int) -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// CHECK-LABEL: @running
// CHECK: torch.aten.mul.Tensor {{.*}} -> !torch.vtensor<[3,8,4],f32>
// CHECK: torch.aten.cumsum {{.*}} -> !torch.vtensor<[3,8,4],f32>
func.func @running(%y: !torch.vtensor<[3,9,4],f32>, %x: !torch.vtensor<[9],f32>) -> !torch.vtensor<[3,8,4],f32> {
  %dim = torch.constant.int 1
  %r = torch.operator "torch.aten.cumulative_trapezoid.x"(%y, %x, %dim) : (!torch.vtensor<[3,9,4],f32>, !torch.vtensor<[9],f32>, !torch.int) -> !torch.vtensor<[3,8,4],f32>
  return %r : !torch.vtensor<[3,8,4],f32>
}

// CHECK-LABEL: @one_point
// CHECK: aten.trapezoid.dx
func.func @one_point(%y: !torch.vtensor<[3,1],f32>) -> !torch.vtensor<[3],f32> {
  %dx = torch.constant.float 0.5
  %dim = torch.constant.int 1
  %r = torch.operator "torch.aten.trapezoid.dx"(%y, %dx, %dim) : (!torch.vtensor<[3,1],f32>, !torch.float, !torch.int) -> !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[3],f32>
}

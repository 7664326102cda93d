// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-write-composites)' 2>/dev/null | FileCheck %s

// Halves are multiplied and added in f32.
// CHECK-LABEL: @vector
// CHECK:         torch.aten.matmul {{.*}} -> !torch.vtensor<[?,1],f32>
// CHECK:         torch.aten.squeeze.dim
// CHECK:         torch.aten.add.Tensor
// CHECK:         return %{{.*}} : !torch.vtensor<[?],f16>
func.func @vector(%s: !torch.vtensor<[?],f16>, %m: !torch.vtensor<[?,?],f16>, %v: !torch.vtensor<[?],f16>) -> !torch.vtensor<[?],f16> {
  %one = torch.constant.int 1
  %r = torch.operator "torch.aten.addmv"(%s, %m, %v, %one, %one) : (!torch.vtensor<[?],f16>, !torch.vtensor<[?,?],f16>, !torch.vtensor<[?],f16>, !torch.int, !torch.int) -> !torch.vtensor<[?],f16>
  return %r : !torch.vtensor<[?],f16>
}

// CHECK-LABEL: @without_nans
// CHECK:         torch.aten.ne.Tensor %arg0, %arg0
// CHECK:         torch.aten.where.ScalarSelf
// CHECK:         torch.aten.sum.dim_IntList
func.func @without_nans(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2],f32> {
  %last = torch.constant.int -1
  %none = torch.constant.none
  %no = torch.constant.bool false
  %dims = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.nansum"(%x, %dims, %no, %none) : (!torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.bool, !torch.none) -> !torch.vtensor<[2],f32>
  return %r : !torch.vtensor<[2],f32>
}

// CHECK-LABEL: @special
// CHECK-NOT:     torch.operator
// CHECK:         return
func.func @special(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %a = torch.operator "torch.aten.erfc"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  %b = torch.operator "torch.aten.lgamma"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %a, %b : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}

// f64, which no formula was made for, a count instead of a norm, and an order of polygamma without one are left alone.
// CHECK-LABEL: @left
// CHECK:         torch.operator "torch.aten.erfc"
// CHECK:         torch.operator "torch.aten.dist"
// CHECK:         torch.operator "torch.aten.polygamma"
func.func @left(%d: !torch.vtensor<[4],f64>, %x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f64>, !torch.vtensor<[],f32>, !torch.vtensor<[4],f32>) {
  %zero = torch.constant.int 0
  %four = torch.constant.int 4
  %a = torch.operator "torch.aten.erfc"(%d) : (!torch.vtensor<[4],f64>) -> !torch.vtensor<[4],f64>
  %b = torch.operator "torch.aten.dist"(%x, %x, %zero) : (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int) -> !torch.vtensor<[],f32>
  %c = torch.operator "torch.aten.polygamma"(%four, %x) : (!torch.int, !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %a, %b, %c : !torch.vtensor<[4],f64>, !torch.vtensor<[],f32>, !torch.vtensor<[4],f32>
}

// CHECK-LABEL: @stable
// CHECK:         torch.aten.sort %arg0
func.func @stable(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,4],si64> {
  %true = torch.constant.bool true
  %dim = torch.constant.int 1
  %r = torch.operator "torch.aten.argsort.stable"(%x, %true, %dim, %true) : (!torch.vtensor<[3,4],f32>, !torch.bool, !torch.int, !torch.bool) -> !torch.vtensor<[3,4],si64>
  return %r : !torch.vtensor<[3,4],si64>
}

// The matrix norm is no norm of the elements.
// CHECK-LABEL: @silent_layers
// CHECK:         torch.aten.linalg_norm
func.func @silent_layers(%x: !torch.vtensor<[1,2,8],f32>) -> !torch.vtensor<[1],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %order = torch.constant.float 2.000000e+00
  %dims = torch.prim.ListConstruct %one, %two : (!torch.int, !torch.int) -> !torch.list<int>
  %n = torch.aten.linalg_norm %x, %order, %dims, %false, %none : !torch.vtensor<[1,2,8],f32>, !torch.float, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1],f32>
  return %n : !torch.vtensor<[1],f32>
}

// CHECK-LABEL: @affine
// CHECK-NOT:     torch.operator
// CHECK:         torch.aten.add.Tensor {{.*}} -> !torch.vtensor<[?,4,8,2],f32>
func.func @affine(%x: !torch.vtensor<[?,2,3],f32>, %sizes: !torch.list<int>) -> !torch.vtensor<[?,4,8,2],f32> {
  %no = torch.constant.bool false
  %g = torch.operator "torch.aten.affine_grid_generator"(%x, %sizes, %no) : (!torch.vtensor<[?,2,3],f32>, !torch.list<int>, !torch.bool) -> !torch.vtensor<[?,4,8,2],f32>
  return %g : !torch.vtensor<[?,4,8,2],f32>
}

// An image whose sizes the call decides.
// CHECK-LABEL: @silent_grid
// CHECK:         torch.operator "torch.aten.affine_grid_generator"
func.func @silent_grid(%x: !torch.vtensor<[1,2,3],f32>, %sizes: !torch.list<int>) -> !torch.vtensor<[1,?,8,2],f32> {
  %no = torch.constant.bool false
  %g = torch.operator "torch.aten.affine_grid_generator"(%x, %sizes, %no) : (!torch.vtensor<[1,2,3],f32>, !torch.list<int>, !torch.bool) -> !torch.vtensor<[1,?,8,2],f32>
  return %g : !torch.vtensor<[1,?,8,2],f32>
}

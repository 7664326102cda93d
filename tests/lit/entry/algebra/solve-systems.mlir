// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-solve-systems)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @determinant
// CHECK: scf.for
// CHECK: arith.cmpf ogt
// CHECK: linalg.generic
// CHECK-NOT: torch.aten.linalg_det
func.func @determinant(%x: !torch.vtensor<[?,4,4],f32>) -> !torch.vtensor<[?],f32> {
  %r = torch.aten.linalg_det %x : !torch.vtensor<[?,4,4],f32> -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// A factorisation, and two triangular systems.
// CHECK-LABEL: @system
// CHECK-COUNT-3: scf.for
// CHECK-NOT: aten.linalg_solve
func.func @system(%a: !torch.vtensor<[2,4,4],f32>, %b: !torch.vtensor<[2,4,3],f32>) -> !torch.vtensor<[2,4,3],f32> {
  %left = torch.constant.bool true
  %r = torch.operator "torch.aten.linalg_solve"(%a, %b, %left)
    : (!torch.vtensor<[2,4,4],f32>, !torch.vtensor<[2,4,3],f32>, !torch.bool) -> !torch.vtensor<[2,4,3],f32>
  return %r : !torch.vtensor<[2,4,3],f32>
}

// Double precision was not tried; a factorisation without exchange of rows is another one.
// CHECK-LABEL: @silent
// CHECK: torch.aten.linalg_det
// CHECK: torch.aten.linalg_lu_factor
func.func @silent(%x: !torch.vtensor<[2,2],f64>, %y: !torch.vtensor<[2,2],f32>)
    -> (!torch.vtensor<[],f64>, !torch.vtensor<[2,2],f32>, !torch.vtensor<[2],si32>) {
  %no = torch.constant.bool false
  %r = torch.aten.linalg_det %x : !torch.vtensor<[2,2],f64> -> !torch.vtensor<[],f64>
  %lu:2 = torch.operator "torch.aten.linalg_lu_factor"(%y, %no)
    : (!torch.vtensor<[2,2],f32>, !torch.bool) -> (!torch.vtensor<[2,2],f32>, !torch.vtensor<[2],si32>)
  return %r, %lu#0, %lu#1 : !torch.vtensor<[],f64>, !torch.vtensor<[2,2],f32>, !torch.vtensor<[2],si32>
}

// Values without vectors; the rounds are a number, so the rows have to be.
// CHECK-LABEL: @values
// CHECK: scf.for
// CHECK-NOT: linalg_eigvalsh
func.func @values(%x: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4],f32> {
  %lower = torch.constant.str "L"
  %r = torch.operator "torch.aten.linalg_eigvalsh"(%x, %lower) : (!torch.vtensor<[4,4],f32>, !torch.str) -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: @any_size
// CHECK: linalg_eigvalsh
func.func @any_size(%x: !torch.vtensor<[?,?],f32>) -> !torch.vtensor<[?],f32> {
  %lower = torch.constant.str "L"
  %r = torch.operator "torch.aten.linalg_eigvalsh"(%x, %lower) : (!torch.vtensor<[?,?],f32>, !torch.str) -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// A QR factorisation, rotations of R's columns, and the factorisation that makes their left vectors whole.
// CHECK-LABEL: @singular
// CHECK-COUNT-3: scf.for
// CHECK-NOT: linalg_svd
func.func @singular(%x: !torch.vtensor<[5,3],f32>) -> (!torch.vtensor<[5,3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3,3],f32>) {
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r:3 = torch.operator "torch.aten.linalg_svd"(%x, %no, %none) : (!torch.vtensor<[5,3],f32>, !torch.bool, !torch.none)
    -> (!torch.vtensor<[5,3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3,3],f32>)
  return %r#0, %r#1, %r#2 : !torch.vtensor<[5,3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3,3],f32>
}

// A norm of another order, of other dimensions, and a limit that is no constant.
// CHECK-LABEL: @other_norms
// CHECK: linalg_matrix_norm
// CHECK: linalg_matrix_norm
// CHECK: linalg_pinv
func.func @other_norms(%x: !torch.vtensor<[4,5,3],f32>, %t: !torch.vtensor<[],f32>)
    -> (!torch.vtensor<[4],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[4,3,5],f32>) {
  %no = torch.constant.bool false
  %none = torch.constant.none
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %zero = torch.constant.int 0
  %last = torch.prim.ListConstruct %one, %two : (!torch.int, !torch.int) -> !torch.list<int>
  %first = torch.prim.ListConstruct %zero, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %a = torch.operator "torch.aten.linalg_matrix_norm"(%x, %one, %last, %no, %none)
    : (!torch.vtensor<[4,5,3],f32>, !torch.int, !torch.list<int>, !torch.bool, !torch.none) -> !torch.vtensor<[4],f32>
  %b = torch.operator "torch.aten.linalg_matrix_norm"(%x, %two, %first, %no, %none)
    : (!torch.vtensor<[4,5,3],f32>, !torch.int, !torch.list<int>, !torch.bool, !torch.none) -> !torch.vtensor<[3],f32>
  %c = torch.operator "torch.aten.linalg_pinv.atol_rtol_tensor"(%x, %t, %none, %no)
    : (!torch.vtensor<[4,5,3],f32>, !torch.vtensor<[],f32>, !torch.none, !torch.bool) -> !torch.vtensor<[4,3,5],f32>
  return %a, %b, %c : !torch.vtensor<[4],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[4,3,5],f32>
}

// CHECK-LABEL: @empty
// CHECK: linalg_cond
func.func @empty(%x: !torch.vtensor<[0,3],f32>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %r = torch.operator "torch.aten.linalg_cond"(%x, %none) : (!torch.vtensor<[0,3],f32>, !torch.none) -> !torch.vtensor<[],f32>
  return %r : !torch.vtensor<[],f32>
}

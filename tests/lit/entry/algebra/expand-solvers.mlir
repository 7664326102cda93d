// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-expand-solvers)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @factor
// CHECK: scf.for
// CHECK: math.sqrt
// CHECK-NOT: stablehlo.cholesky
func.func @factor(%a: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %r = stablehlo.cholesky %a, lower = true : tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}

// CHECK-LABEL: @lapack
// CHECK: scf.for
// CHECK-NOT: stablehlo.custom_call
func.func @lapack(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %r = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}}
    : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// Calls of something else, one that does not say which half is read, and complex numbers.
// CHECK-LABEL: @silent
// CHECK: stablehlo.custom_call @mine
// CHECK: stablehlo.custom_call @lapack_spotrf_ffi
// CHECK: stablehlo.cholesky
func.func @silent(%a: tensor<3x3xf32>, %c: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xcomplex<f32>>) {
  %r = stablehlo.custom_call @mine(%a) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %p:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
  %s = stablehlo.cholesky %c, lower = true : tensor<3x3xcomplex<f32>>
  return %r, %p#0, %s : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xcomplex<f32>>
}

// Types that do not belong together.
// CHECK-LABEL: @malformed
// CHECK: stablehlo.custom_call @lapack_sgetrf_ffi
// CHECK: stablehlo.custom_call @lapack_strsm_ffi
func.func @malformed(%a: tensor<3x3xf32>, %b: tensor<4x2xf32>) -> (tensor<3x3xf32>, tensor<3xi64>, tensor<4x2xf32>) {
  %r:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi64>, tensor<i64>)
  %s = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}}
    : (tensor<3x3xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r#0, %r#1, %s : tensor<3x3xf32>, tensor<3xi64>, tensor<4x2xf32>
}

// CHECK-LABEL: @singular
// CHECK: scf.for
// CHECK-NOT: gesdd
func.func @singular(%x: tensor<5x3xf32>) -> tensor<3xf32> {
  %r:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%x) {mhlo.backend_config = {mode = 78 : ui8}}
    : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<i32>)
  return %r#1 : tensor<3xf32>
}

// An operand in another layout, vectors of a size that the mode does not give, and options of a form that is not known.
// CHECK-LABEL: @not_singular
// CHECK: gesvd
// CHECK: gesdd
// CHECK: Eigh
func.func @not_singular(%x: tensor<3x5xf32>, %y: tensor<5x3xf32>, %z: tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %r:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%x) {mhlo.backend_config = {compute_uv = true, full_matrices = false, transposed = true}}
    : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x5xf32>, tensor<i32>)
  %s:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%y) {mhlo.backend_config = {mode = 83 : ui8}}
    : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<i32>)
  %e:2 = stablehlo.custom_call @Eigh(%z) {backend_config = ""} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)
  return %r#1, %s#1, %e#1 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-rewrite-hyperbolics)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-rewrite-hyperbolics{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-LABEL: func.func @area
// CHECK-NOT:     math.asinh
// CHECK:         math.absf
// CHECK:         math.log
// CHECK:         math.copysign
func.func @area(%y: tensor<8xf16>, %x: tensor<8xf16>) -> tensor<8xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf16>) outs(%x : tensor<8xf16>) {
  ^bb0(%a: f16, %o: f16):
    %q = math.asinh %a : f16
    linalg.yield %q : f16
  } -> tensor<8xf16>
  return %r : tensor<8xf16>
}

// WRONG: error[FIS114] linalg.generic has no hyperbolic function to change
// CHECK-LABEL: func.func @wide
// CHECK:         math.asinh
// CHECK:         math.tanh
func.func @wide(%y: tensor<8xf64>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf64>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f64, %o: f32):
    %q = math.asinh %a : f64
    %s = arith.truncf %q : f64 to f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

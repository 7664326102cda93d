// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-inline-doubles)' 2>/dev/null | FileCheck %s

// CHECK:         util.global private @large = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>
util.global private @large = dense_resource<wide> : tensor<2xf64>

// CHECK-LABEL: @weights
// CHECK:         torch.vtensor.literal(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>)
// CHECK:         arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf64>
// CHECK:         stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>
func.func @weights() -> (!torch.vtensor<[2],f64>, tensor<1x2xf64>, tensor<2xf64>) {
  %0 = torch.vtensor.literal(dense_resource<wide> : tensor<2xf64>) : !torch.vtensor<[2],f64>
  %1 = arith.constant dense_resource<wide> : tensor<1x2xf64>
  %2 = stablehlo.constant dense_resource<wide> : tensor<2xf64>
  return %0, %1, %2 : !torch.vtensor<[2],f64>, tensor<1x2xf64>, tensor<2xf64>
}

// Other elements, a constant without a resource, and a resource that is too short.
// CHECK-LABEL: @silent
// CHECK:         dense_resource<wide> : tensor<4xf32>
// CHECK:         dense<1.000000e+00> : tensor<2xf64>
// CHECK:         dense_resource<wide> : tensor<3xf64>
func.func @silent() -> (!torch.vtensor<[4],f32>, tensor<2xf64>, tensor<3xf64>) {
  %0 = torch.vtensor.literal(dense_resource<wide> : tensor<4xf32>) : !torch.vtensor<[4],f32>
  %1 = arith.constant dense<1.0> : tensor<2xf64>
  %2 = arith.constant dense_resource<wide> : tensor<3xf64>
  return %0, %1, %2 : !torch.vtensor<[4],f32>, tensor<2xf64>, tensor<3xf64>
}

{-#
  dialect_resources: {
    builtin: {
      wide: "0x08000000000000000000F03F0000000000000040"
    }
  }
#-}

// RUN: fissile-opt %s --split-input-file --pass-pipeline='builtin.module(fissile-strip-signs)' | FileCheck %s

// CHECK-LABEL: func.func @unsigned
// CHECK-SAME:    %{{.*}}: tensor<4xi8>) -> tensor<4xi8>
// CHECK:         tosa.const values(dense<-56> : tensor<1xi8>)
// CHECK:         tosa.rescale {{.*}} input_unsigned(true) {{.*}} : (tensor<4xi8>,
func.func @unsigned(%x: tensor<4xui8>) -> tensor<4xi8> {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<200> : tensor<1xui8>}> : () -> tensor<1xui8>
  %o = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = "tosa.rescale"(%x, %m, %s, %z, %o) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = true, output_unsigned = false}>
    : (tensor<4xui8>, tensor<1xi32>, tensor<1xi8>, tensor<1xui8>, tensor<1xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// Another op computes with the unsigned integers.
// CHECK-LABEL: func.func @silent
// CHECK-SAME:    tensor<4xui8>
func.func @silent(%x: tensor<4xui8>) -> (tensor<4xi8>, tensor<4xi1>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<200> : tensor<1xui8>}> : () -> tensor<1xui8>
  %o = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = "tosa.rescale"(%x, %m, %s, %z, %o) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = true, output_unsigned = false}>
    : (tensor<4xui8>, tensor<1xi32>, tensor<1xi8>, tensor<1xui8>, tensor<1xi8>) -> tensor<4xi8>
  %g = "tosa.greater"(%x, %x) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  return %r, %g : tensor<4xi8>, tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @silent_signed
// CHECK:         return
func.func @silent_signed(%x: tensor<4xi8>) -> tensor<4xi8> {
  return %x : tensor<4xi8>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-widen-types)' | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK:         tosa.cast %{{.*}} : (tensor<4xi8>) -> tensor<4xi32>
// CHECK:         tosa.add {{.*}} -> tensor<4xi32>
// CHECK:         tosa.cast {{.*}} : (tensor<4xi32>) -> tensor<4xi8>
func.func @sum(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  %r = tosa.add %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// CHECK-LABEL: func.func @comparison
// CHECK:         tosa.greater {{.*}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
// CHECK-NEXT:    return
func.func @comparison(%x: tensor<4xi16>, %y: tensor<4xi16>) -> tensor<4xi1> {
  %r = tosa.greater %x, %y : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi1>
  return %r : tensor<4xi1>
}

// CHECK-LABEL: func.func @bounds
// CHECK:         %[[LOW:.*]] = tosa.maximum
// CHECK:         tosa.minimum %[[LOW]]
func.func @bounds(%x: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %r = "tosa.clamp"(%x) <{max_val = 20 : i32, min_val = -7 : i32}> : (tensor<2x4xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @cast
// CHECK:         tosa.cast {{.*}} : (tensor<?xf16>) -> tensor<?xf32>
// CHECK:         tosa.cast {{.*}} : (tensor<?xf32>) -> tensor<?xbf16>
func.func @cast(%x: tensor<?xf16>) -> tensor<?xbf16> {
  %r = tosa.cast %x : (tensor<?xf16>) -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}

// CHECK-LABEL: func.func @silent
// CHECK-NOT:     tosa.cast
// CHECK:         tosa.clamp {{.*}} : (tensor<4xi8>)
// CHECK:         tosa.add {{.*}} : (tensor<4xi32>
func.func @silent(%x: tensor<4xi32>, %y: tensor<4xi8>) -> (tensor<4xi32>, tensor<4xi8>) {
  %c = "tosa.clamp"(%y) <{max_val = 20 : i8, min_val = -7 : i8}> : (tensor<4xi8>) -> tensor<4xi8>
  %r = tosa.add %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %r, %c : tensor<4xi32>, tensor<4xi8>
}

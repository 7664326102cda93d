// RUN: fissile-opt %s --fissile-use-signless-ops 2>/dev/null | FileCheck %s

// CHECK-LABEL: @reverse
// CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xui8>) -> tensor<4xi8>
// CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<4xi8>
// CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xi8>) -> tensor<4xui8>
func.func @reverse(%x: tensor<4xui8>) -> tensor<4xui8> {
  %r = stablehlo.reverse %x, dims = [0] : tensor<4xui8>
  return %r : tensor<4xui8>
}

// What is computed of the elements stays unsigned.
// CHECK-LABEL: @cumulative
// CHECK: ^bb0(%[[A:.*]]: tensor<i8>, %{{.*}}: tensor<i8>):
// CHECK: stablehlo.bitcast_convert %[[A]] : (tensor<i8>) -> tensor<ui8>
// CHECK: stablehlo.maximum %{{.*}}, %{{.*}} : tensor<ui8>
// CHECK: (tensor<8xi8>, tensor<i8>) -> tensor<8xi8>
func.func @cumulative(%x: tensor<8xui8>, %c: tensor<ui8>) -> tensor<8xui8> {
  %r = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %m = stablehlo.maximum %a, %b : tensor<ui8>
    stablehlo.return %m : tensor<ui8>
  }) : (tensor<8xui8>, tensor<ui8>) -> tensor<8xui8>
  return %r : tensor<8xui8>
}

// IREE takes other windows, and signed elements.
// CHECK-LABEL: @stays
// CHECK-NOT: bitcast_convert
// CHECK: return
func.func @stays(%x: tensor<8xui8>, %y: tensor<4xi8>, %c: tensor<ui8>) -> (tensor<4xui8>, tensor<4xi8>) {
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %m = stablehlo.maximum %a, %b : tensor<ui8>
    stablehlo.return %m : tensor<ui8>
  }) : (tensor<8xui8>, tensor<ui8>) -> tensor<4xui8>
  %1 = stablehlo.reverse %y, dims = [0] : tensor<4xi8>
  return %0, %1 : tensor<4xui8>, tensor<4xi8>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-multiply-signed)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-multiply-signed{ops=2})' 2>&1 | FileCheck %s --check-prefix=WRONG

// The factor without a sign loses 128; the sums of the other one are added 128 times.
// CHECK-LABEL: func.func @one
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%arg1 : tensor<16x4xi8>)
// CHECK:           arith.extsi
// CHECK:         %[[SIGNED:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<8x16xi8>)
// CHECK:           arith.xori %{{.*}}, %c-128_i8
// CHECK:         %[[PRODUCT:.*]] = linalg.generic {{.*}} ins(%[[SIGNED]], %arg1 : tensor<8x16xi8>, tensor<16x4xi8>)
// CHECK-NOT:       arith.extui
// CHECK:         linalg.generic {{.*}} ins(%[[PRODUCT]], %[[SUMS]] : tensor<8x4xi32>, tensor<4xi32>)
// CHECK:           arith.muli %{{.*}}, %c128_i32
func.func @one(%a: tensor<8x16xi8>, %b: tensor<16x4xi8>, %start: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<8x16xi8>, tensor<16x4xi8>) outs(%start : tensor<8x4xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %p = arith.extui %x : i8 to i32
    %q = arith.extsi %y : i8 to i32
    %product = arith.muli %p, %q : i32
    %s = arith.addi %sum, %product : i32
    linalg.yield %s : i32
  } -> tensor<8x4xi32>
  return %r : tensor<8x4xi32>
}

// The sums of a window need its size, which an empty tensor lends.
// CHECK-LABEL: func.func @window
// CHECK:         %[[WINDOW:.*]] = tensor.empty() : tensor<3xi8>
// CHECK:         linalg.generic {{.*}} ins(%arg0, %[[WINDOW]] : tensor<10x2xi8>, tensor<3xi8>)
func.func @window(%a: tensor<10x2xi8>, %b: tensor<3x2xi8>, %start: tensor<8xi32>) -> tensor<8xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, w, c) -> (i + w, c)>, affine_map<(i, w, c) -> (w, c)>, affine_map<(i, w, c) -> (i)>],
      iterator_types = ["parallel", "reduction", "reduction"]} ins(%a, %b : tensor<10x2xi8>, tensor<3x2xi8>) outs(%start : tensor<8xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %p = arith.extsi %x : i8 to i32
    %q = arith.extui %y : i8 to i32
    %product = arith.muli %p, %q : i32
    %s = arith.addi %sum, %product : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// WRONG: error[FIS114] linalg.generic has no unsigned factor to change: it adds up no products of unsigned 8-bit integers
// CHECK-LABEL: func.func @signed
// CHECK-NOT:     arith.xori
func.func @signed(%a: tensor<8x16xi8>, %b: tensor<16x4xi8>, %start: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<8x16xi8>, tensor<16x4xi8>) outs(%start : tensor<8x4xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %p = arith.extsi %x : i8 to i32
    %q = arith.extsi %y : i8 to i32
    %product = arith.muli %p, %q : i32
    %s = arith.addi %sum, %product : i32
    linalg.yield %s : i32
  } -> tensor<8x4xi32>
  return %r : tensor<8x4xi32>
}

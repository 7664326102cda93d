// RUN: fissile-opt %s --fissile-write-host-scalars 2>/dev/null | FileCheck %s

// CHECK-LABEL: @indices
// CHECK: arith.addi
// CHECK: arith.cmpi slt
// CHECK-NOT: index.cmp
func.func @indices(%i: index, %j: index) -> i1 {
  %s = index.add %i, %j
  %c = index.cmp slt(%s, %j)
  return %c : i1
}

// CHECK-LABEL: @on_device
// CHECK: linalg.generic
// CHECK:   math.tan
// CHECK: tensor.extract
func.func @on_device(%x: f32) -> f32 {
  %r = math.tan %x : f32
  return %r : f32
}

// The host has a sine, and code generation a bit count.
// CHECK-LABEL: @left
// CHECK: math.sin
// CHECK: math.ctpop
func.func @left(%x: f32, %t: tensor<4xi32>) -> (f32, tensor<4xi32>) {
  %r = math.sin %x : f32
  %e = tensor.empty() : tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%t : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %p = math.ctpop %a : i32
    linalg.yield %p : i32
  } -> tensor<4xi32>
  return %r, %0 : f32, tensor<4xi32>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-rewrite-host-floats)' | FileCheck %s

// CHECK-LABEL: func.func @cast
// CHECK-SAME:    (%[[X:.*]]: f32)
// CHECK:         %[[UP:.*]] = math.ceil %[[X]] : f32
// CHECK:         %[[DOWN:.*]] = math.floor %[[X]] : f32
// CHECK:         %[[CUT:.*]] = arith.select %{{.*}}, %[[UP]], %[[DOWN]] : f32
// CHECK:         arith.fptosi %[[CUT]] : f32 to i32
func.func @cast(%x: f32) -> i32 {
  %r = arith.fptosi %x : f32 to i32
  return %r : i32
}

// A number without a fraction is cast right.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT:    math.floor
// CHECK-NEXT:    arith.fptosi
// CHECK-NEXT:    return
func.func @whole(%x: f32) -> i32 {
  %f = math.floor %x : f32
  %r = arith.fptosi %f : f32 to i32
  return %r : i32
}

// The comparison that is right of NaN, with the operands the other way round.
// CHECK-LABEL: func.func @compare
// CHECK-SAME:    (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK-NEXT:    arith.cmpf ole, %[[Y]], %[[X]] : f32
// CHECK-NEXT:    arith.cmpf ule, %[[Y]], %[[X]] : f32
// CHECK-NEXT:    arith.cmpf olt, %[[X]], %[[Y]] : f32
func.func @compare(%x: f32, %y: f32) -> (i1, i1, i1) {
  %a = arith.cmpf oge, %x, %y : f32
  %b = arith.cmpf uge, %x, %y : f32
  %c = arith.cmpf olt, %x, %y : f32
  return %a, %b, %c : i1, i1, i1
}

// CHECK-LABEL: func.func @remainder
// CHECK-SAME:    (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK:         %[[NEAR:.*]] = arith.remf %[[X]], %[[Y]] : f32
// CHECK:         %[[SIZE:.*]] = math.absf %[[Y]] : f32
// CHECK:         arith.addf %[[NEAR]], %[[SIZE]] : f32
// CHECK:         arith.subf %[[NEAR]], %[[SIZE]] : f32
func.func @remainder(%x: f32, %y: f32) -> f32 {
  %r = arith.remf %x, %y : f32
  return %r : f32
}

// In a dispatch they are right.
// CHECK-LABEL: func.func @elements
// CHECK:         ^bb0
// CHECK-NEXT:    arith.maximumf
// CHECK-NEXT:    arith.fptosi
// CHECK-NEXT:    linalg.yield
func.func @elements(%x: tensor<8xf32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: f32, %o: i32):
    %m = arith.maximumf %a, %a : f32
    %i = arith.fptosi %m : f32 to i32
    linalg.yield %i : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// An op on tensors becomes a dispatch.
// CHECK-LABEL: func.func @tensors
// CHECK-NEXT:    arith.maximumf
// CHECK-NEXT:    arith.fptosi
// CHECK-NEXT:    return
func.func @tensors(%x: tensor<8xf32>) -> tensor<8xi32> {
  %m = arith.maximumf %x, %x : tensor<8xf32>
  %r = arith.fptosi %m : tensor<8xf32> to tensor<8xi32>
  return %r : tensor<8xi32>
}

// RUN: fissile-opt %s --fissile-apply-dot-algorithms 2>/dev/null | FileCheck %s

// The type of the sums is the one that the algorithm names.
// CHECK-LABEL: @batched
// CHECK-NOT: algorithm
// CHECK: %[[SUMS:.*]] = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0]{{.*}} -> tensor<2x4x4xf32>
// CHECK: stablehlo.convert %[[SUMS]] : (tensor<2x4x4xf32>) -> tensor<2x4x4xbf16>
func.func @batched(%a: tensor<2x4x8xbf16>, %b: tensor<2x8x4xbf16>) -> tensor<2x4x4xbf16> {
  %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x4x8xbf16>, tensor<2x8x4xbf16>) -> tensor<2x4x4xbf16>
  return %r : tensor<2x4x4xbf16>
}

// CHECK-LABEL: @rounded
// CHECK: %[[A:.*]] = stablehlo.convert %arg0 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf16>
// CHECK: %[[B:.*]] = stablehlo.convert %arg1 : (tensor<2x8x4xf32>) -> tensor<2x8x4xf16>
// CHECK: stablehlo.dot_general %[[A]], %[[B]],{{.*}} : (tensor<2x4x8xf16>, tensor<2x8x4xf16>) -> tensor<2x4x4xf32>
func.func @rounded(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) -> tensor<2x4x4xf32> {
  %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = f16, rhs_precision_type = f16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}

// Operands of which several parts are multiplied are not rounded.
// CHECK-LABEL: @parts
// CHECK-NOT: stablehlo.convert
// CHECK: stablehlo.dot_general %arg0, %arg1,{{.*}} : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
func.func @parts(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) -> tensor<2x4x4xf32> {
  %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}

// IREE lowers a product of matrices, and one without an algorithm.
// CHECK-LABEL: @stays
// CHECK: stablehlo.dot_general{{.*}} algorithm = {{.*}} -> tensor<4x4xf32>
// CHECK: stablehlo.dot_general{{.*}} : (tensor<2x4x8xbf16>, tensor<2x8x4xbf16>) -> tensor<2x4x4xbf16>
// CHECK-NEXT: return
func.func @stays(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>, %c: tensor<2x4x8xbf16>, %d: tensor<2x8x4xbf16>) -> (tensor<4x4xf32>, tensor<2x4x4xbf16>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %c, %d, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xbf16>, tensor<2x8x4xbf16>) -> tensor<2x4x4xbf16>
  return %0, %1 : tensor<4x4xf32>, tensor<2x4x4xbf16>
}

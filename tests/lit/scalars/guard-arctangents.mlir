// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-guard-arctangents)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-guard-arctangents{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-LABEL: func.func @angle
// CHECK:         %[[ANGLE:.*]] = math.atan2 %[[Y:.*]], %[[X:.*]] : f32
// CHECK:         %[[SIZE:.*]] = math.absf %[[ANGLE]]
// CHECK:         math.copysign %{{.*}}, %[[X]]
// CHECK:         math.copysign %{{.*}}, %[[Y]]
func.func @angle(%y: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.atan2 %a, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// WRONG: error[FIS114] linalg.generic has no arctangent to change
// CHECK-LABEL: func.func @of_one_number
// CHECK-NOT:     math.copysign
func.func @of_one_number(%y: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.atan %a : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-select-in-windows)' 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.err

// Windows of three elements that overlap: each of the three places is a slice, compared one after the other, and the source elements go
// back to where the selected ones are.
// REPORT: repaired[FIS421] IREE has no lowering for stablehlo.select_and_scatter as it is used here
// CHECK-LABEL: func.func @overlapping
// CHECK-SAME:    (%[[X:.*]]: tensor<7xf32>, %[[G:.*]]: tensor<3xf32>
// CHECK:         %[[A:.*]] = stablehlo.slice %[[X]] [0:5:2]
// CHECK:         %[[B:.*]] = stablehlo.slice %[[X]] [1:6:2]
// CHECK:         %[[FIRST:.*]] = stablehlo.compare GE, %[[A]], %[[B]]
// CHECK:         stablehlo.select %[[FIRST]], %[[A]], %[[B]]
// CHECK:         stablehlo.slice %[[X]] [2:7:2]
// CHECK:         stablehlo.pad {{.*}}, low = [0], high = [2], interior = [1]
// CHECK:         stablehlo.pad {{.*}}, low = [1], high = [1], interior = [1]
// CHECK:         stablehlo.pad {{.*}}, low = [2], high = [0], interior = [1]
// CHECK-NOT:     select_and_scatter
func.func @overlapping(%x: tensor<7xf32>, %g: tensor<3xf32>, %init: tensor<f32>) -> tensor<7xf32> {
  %r = "stablehlo.select_and_scatter"(%x, %g, %init) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %first = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<7xf32>, tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// The twin: windows beside each other, which IREE lowers.
// CHECK-LABEL: func.func @beside
// CHECK:         select_and_scatter
func.func @beside(%x: tensor<6xf32>, %g: tensor<3xf32>, %init: tensor<f32>) -> tensor<6xf32> {
  %r = "stablehlo.select_and_scatter"(%x, %g, %init) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %first = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<6xf32>, tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

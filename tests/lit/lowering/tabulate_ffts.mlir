// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-tabulate-ffts)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-tabulate-ffts{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// The factors of stage 2 are 1 and -i; the other stage has its table.
// CHECK-LABEL: func.func @stages
// CHECK:         %[[RE:.*]] = arith.constant dense<[1.000000e+00, 6.12323426E-17]>
// CHECK:         %[[IM:.*]] = arith.constant dense<[0.000000e+00, -1.000000e+00]>
// CHECK:         iree_linalg_ext.fft ins(%{{.*}}, %[[RE]], %[[IM]] : index, tensor<2xf32>, tensor<2xf32>)
// CHECK:         iree_linalg_ext.fft ins(%{{.*}}, %arg2, %arg2 : index, tensor<2xf32>, tensor<2xf32>)
func.func @stages(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %t: tensor<2xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %stage = arith.constant 2 : index
  %r:2 = iree_linalg_ext.fft ins(%stage : index) outs(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) : tensor<4x8xf32>, tensor<4x8xf32>
  %s:2 = iree_linalg_ext.fft ins(%stage, %t, %t : index, tensor<2xf32>, tensor<2xf32>) outs(%r#0, %r#1 : tensor<4x8xf32>, tensor<4x8xf32>)
      : tensor<4x8xf32>, tensor<4x8xf32>
  return %s#0, %s#1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// WRONG: FIS114
// WRONG-SAME: it has tables

// The number of a stage that is known only when the program runs.
// CHECK-LABEL: func.func @any_stage
// CHECK:         iree_linalg_ext.fft ins(%arg2 : index)
func.func @any_stage(%x: tensor<8xf32>, %y: tensor<8xf32>, %stage: index) -> tensor<8xf32> {
  %r:2 = iree_linalg_ext.fft ins(%stage : index) outs(%x, %y : tensor<8xf32>, tensor<8xf32>) : tensor<8xf32>, tensor<8xf32>
  return %r#0 : tensor<8xf32>
}

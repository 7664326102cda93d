// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-separate-inserts)' | FileCheck %s

// A tensor with gaps, padded with what is in the gaps.
// CHECK-LABEL: func.func @padded
// CHECK:         %[[INNER:.*]] = tensor.insert_slice %{{.*}}[0] [4] [2]
// CHECK:         %[[APART:.*]] = iree_tensor_ext.compute_barrier.start %[[INNER]]
// CHECK:         tensor.pad %[[APART]]
func.func @padded(%x: tensor<4xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %y = tensor.insert_slice %x into %f[0] [4] [2] : tensor<4xf32> into tensor<7xf32>
  %r = tensor.pad %y low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<7xf32> to tensor<9xf32>
  return %r : tensor<9xf32>
}

// A padded tensor, put with gaps into what it is padded with.
// CHECK-LABEL: func.func @spread
// CHECK:         %[[INNER:.*]] = tensor.pad
// CHECK:         %[[APART:.*]] = iree_tensor_ext.compute_barrier.start %[[INNER]]
// CHECK:         tensor.insert_slice %[[APART]]
func.func @spread(%x: tensor<4xf32>) -> tensor<13xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  %e = tensor.empty() : tensor<13xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<13xf32>) -> tensor<13xf32>
  %r = tensor.insert_slice %y into %f[1] [6] [2] : tensor<6xf32> into tensor<13xf32>
  return %r : tensor<13xf32>
}

// Another value around it, and no gaps.
// CHECK-LABEL: func.func @right
// CHECK-NOT:     compute_barrier
func.func @right(%x: tensor<4xf32>) -> (tensor<9xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %y = tensor.insert_slice %x into %f[0] [4] [2] : tensor<4xf32> into tensor<7xf32>
  %r = tensor.pad %y low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<7xf32> to tensor<9xf32>
  %z = tensor.insert_slice %x into %f[1] [4] [1] : tensor<4xf32> into tensor<7xf32>
  %s = tensor.pad %z low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<7xf32> to tensor<8xf32>
  return %r, %s : tensor<9xf32>, tensor<8xf32>
}

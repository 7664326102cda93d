// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-copy-passed-tensors)' | FileCheck %s

// Both results may be one tensor, and the second is sorted in place.
// CHECK-LABEL: func.func @twice
// CHECK:         %[[R:.*]]:2 = scf.if
// CHECK:         iree_linalg_ext.sort
// CHECK:         util.optimization_barrier %[[R]]#1 : tensor<4xi32>
// CHECK-NEXT:    return
func.func @twice(%x: tensor<4xi32>, %y: tensor<4xi32>, %p: i1) -> (tensor<4xi32>, tensor<4xi32>) {
  %r:2 = scf.if %p -> (tensor<4xi32>, tensor<4xi32>) {
    %a = arith.addi %x, %y : tensor<4xi32>
    scf.yield %a, %a : tensor<4xi32>, tensor<4xi32>
  } else {
    %a = arith.muli %x, %y : tensor<4xi32>
    %b = arith.subi %x, %y : tensor<4xi32>
    scf.yield %a, %b : tensor<4xi32>, tensor<4xi32>
  }
  %s = iree_linalg_ext.sort dimension(0) outs(%r#1 : tensor<4xi32>) {
  ^bb0(%k: i32, %l: i32):
    %more = arith.cmpi sgt, %k, %l : i32
    iree_linalg_ext.yield %more : i1
  } -> tensor<4xi32>
  return %r#0, %s : tensor<4xi32>, tensor<4xi32>
}

// Without an iteration, the result is the tensor that the loop begins with.
// CHECK-LABEL: func.func @no_iteration
// CHECK:         %[[R:.*]] = scf.for
// CHECK:         tensor.insert_slice
// CHECK:         util.optimization_barrier %[[R]] : tensor<4xi32>
func.func @no_iteration(%x: tensor<4xi32>, %v: tensor<2xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xi32>) {
    %b = arith.muli %a, %a : tensor<4xi32>
    scf.yield %b : tensor<4xi32>
  }
  %s = tensor.insert_slice %v into %r[1] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %x, %s : tensor<4xi32>, tensor<4xi32>
}

// In the next iteration, the branch passes the same tensor on again.
// CHECK-LABEL: func.func @again
// CHECK:           %[[R:.*]] = scf.if
// CHECK:           tensor.insert_slice
// CHECK:           util.optimization_barrier %[[R]] : tensor<4xi32>
// CHECK-NEXT:      scf.yield
func.func @again(%x: tensor<4xi32>, %v: tensor<2xi32>, %n: index, %p: i1) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = arith.addi %x, %x : tensor<4xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xi32>) {
    %b = scf.if %p -> (tensor<4xi32>) {
      scf.yield %y : tensor<4xi32>
    } else {
      %d = arith.muli %a, %a : tensor<4xi32>
      scf.yield %d : tensor<4xi32>
    }
    %s = tensor.insert_slice %v into %b[%i] [2] [1] : tensor<2xi32> into tensor<4xi32>
    scf.yield %s : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// The loop has four iterations: its result is not what it begins with.
// CHECK-LABEL: func.func @four_iterations
// CHECK-NOT:     util.optimization_barrier
// CHECK:         return
func.func @four_iterations(%x: tensor<4xi32>, %v: tensor<2xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> (tensor<4xi32>) {
    %b = arith.muli %a, %a : tensor<4xi32>
    scf.yield %b : tensor<4xi32>
  }
  %s = tensor.insert_slice %v into %r[1] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %x, %s : tensor<4xi32>, tensor<4xi32>
}

// Nothing reads a tensor that may be the same: each branch makes two, and what a loop begins with is not used elsewhere.
// CHECK-LABEL: func.func @apart
// CHECK-NOT:     util.optimization_barrier
func.func @apart(%x: tensor<4xi32>, %y: tensor<4xi32>, %v: tensor<2xi32>, %p: i1, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.if %p -> (tensor<4xi32>, tensor<4xi32>) {
    %a = arith.addi %x, %y : tensor<4xi32>
    %b = arith.subi %y, %x : tensor<4xi32>
    scf.yield %a, %b : tensor<4xi32>, tensor<4xi32>
  } else {
    %a = arith.muli %x, %y : tensor<4xi32>
    %b = arith.subi %x, %y : tensor<4xi32>
    scf.yield %a, %b : tensor<4xi32>, tensor<4xi32>
  }
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%a = %r#1) -> (tensor<4xi32>) {
    %b = arith.muli %a, %a : tensor<4xi32>
    %s = tensor.insert_slice %v into %b[%i] [2] [1] : tensor<2xi32> into tensor<4xi32>
    scf.yield %s : tensor<4xi32>
  }
  %s = tensor.insert_slice %v into %t[1] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %r#0, %s : tensor<4xi32>, tensor<4xi32>
}

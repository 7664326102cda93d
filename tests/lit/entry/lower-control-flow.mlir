// RUN: fissile-opt %s --fissile-lower-control-flow 2>/dev/null | FileCheck %s

// CHECK-LABEL: @branches
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: scf.if %[[FIRST]] -> (tensor<4xf32>)
// CHECK: } else {
// CHECK:   scf.if
// CHECK-NOT: scf.index_switch
func.func @branches(%i: index, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.index_switch %i -> tensor<4xf32>
  case 0 {
    scf.yield %a : tensor<4xf32>
  }
  case 3 {
    scf.yield %b : tensor<4xf32>
  }
  default {
    %x = arith.mulf %a, %b : tensor<4xf32>
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// What a thread reads of the output is its value before the loop.
// CHECK-LABEL: @threads
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>
// CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %[[X]])
// CHECK:   tensor.extract_slice %[[X]]
// CHECK:   tensor.insert_slice {{.*}} into %[[CARRIED]]
func.func @threads(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.forall (%i) = (0) to (8) step (4) shared_outs(%o = %x) -> tensor<8xf32> {
    %v = tensor.extract_slice %o[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// IREE takes it without tensors among the results.
// CHECK-LABEL: @scalars
// CHECK: scf.parallel
// CHECK: affine.for
func.func @scalars(%x: tensor<8xf32>) -> (f32, f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %init = arith.constant 0.0 : f32
  %r = scf.parallel (%i) = (%zero) to (%eight) step (%one) init (%init) -> f32 {
    %v = tensor.extract %x[%i] : tensor<8xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  %t = affine.for %i = 0 to 8 iter_args(%c = %init) -> f32 {
    %v = tensor.extract %x[%i] : tensor<8xf32>
    %s = arith.addf %c, %v : f32
    affine.yield %s : f32
  }
  return %r, %t : f32, f32
}

// Inside of a dispatch it is IREE's own.
// CHECK-LABEL: @in_a_dispatch
// CHECK: scf.forall
func.func @in_a_dispatch(%x: tensor<8xf32>) -> tensor<8xf32> {
  %d = flow.dispatch.region -> (tensor<8xf32>) {
    %r = scf.forall (%i) = (0) to (8) step (4) shared_outs(%o = %x) -> tensor<8xf32> {
      %v = tensor.extract_slice %o[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %v into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
      }
    }
    flow.return %r : tensor<8xf32>
  }
  return %d : tensor<8xf32>
}

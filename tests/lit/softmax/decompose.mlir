// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-softmax)' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-softmax{boundaries=false})' | FileCheck %s --check-prefix=JOINED
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-softmax{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-LABEL: func.func @rows
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// CHECK:           arith.maxnumf
// CHECK:         "fissile.boundary"(%{{.*}}) : (tensor<?x3xf32>)
// CHECK:           math.exp
// CHECK:         "fissile.boundary"(%{{.*}}) : (tensor<?x5x3xf32>)
// CHECK:           arith.addf
// CHECK:         "fissile.boundary"(%{{.*}}) : (tensor<?x3xf32>)
// CHECK:           arith.divf
// CHECK-NOT:     linalg.softmax
// JOINED-NOT:  fissile.boundary
// JOINED-NOT:  linalg.softmax
func.func @rows(%x: tensor<?x5x3xf32>, %e: tensor<?x5x3xf32>) -> tensor<?x5x3xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x5x3xf32>) outs(%e : tensor<?x5x3xf32>) -> tensor<?x5x3xf32>
  return %r : tensor<?x5x3xf32>
}

// WRONG: FIS114
// WRONG-SAME: linalg.transpose cannot be decomposed as a softmax: it is not a softmax
// CHECK-LABEL: func.func @silent
// CHECK-NEXT:    linalg.transpose
// CHECK-NEXT:    return
func.func @silent(%x: tensor<2x3xf32>, %e: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %r = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  return %r : tensor<3x2xf32>
}

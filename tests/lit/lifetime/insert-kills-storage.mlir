// RUN: fissile-opt %s --fissile-insert-kills --fissile-check-lifetimes 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SILENT --allow-empty < %t.err
// RUN: not fissile-opt %s --fissile-check-lifetimes -o %t.same 2>&1 | FileCheck %s --check-prefix=BEFORE
// SILENT-NOT: FIS
// BEFORE-DAG: error[FIS305] fissile.kill of %f is inside flow.dispatch.region
// BEFORE-DAG: error[FIS301] %s is never released

// The last use is inside a dispatch region, which may have no side effect: the release stands behind it.
// CHECK-LABEL: func.func @dispatch
// CHECK:         %[[S:.*]] = "fissile.alloc_storage"
// CHECK:         flow.dispatch.region
// CHECK-NOT:     fissile.kill
// CHECK:         flow.return
// CHECK-NEXT:    }
// CHECK-NEXT:    "fissile.kill"(%[[S]])
// CHECK-NOT:     fissile.kill
// CHECK:         return
func.func @dispatch() -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %cst = arith.constant 1.0 : f32
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.fill ins(%cst : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %m = flow.dispatch.region -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %a = linalg.copy ins(%f : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    "fissile.kill"(%f) : (tensor<4xf32>) -> ()
    flow.return %a : tensor<4xf32>
  }
  %l = tensor.extract %m[%c0] : tensor<4xf32>
  return %l : f32
}

// A tensor that is computed in place in a loop stands on the storage as well; a result that is returned keeps it.
// CHECK-LABEL: func.func @loop
// CHECK:         scf.for
// CHECK-NOT:     fissile.kill
// CHECK:         tensor.extract
// CHECK-NEXT:    "fissile.kill"
func.func @loop(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %cst = arith.constant 1.0 : f32
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.fill ins(%cst : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %f) -> tensor<4xf32> {
    %j = tensor.insert %cst into %q[%c0] : tensor<4xf32>
    scf.yield %j : tensor<4xf32>
  }
  %l = tensor.extract %r[%c0] : tensor<4xf32>
  return %l : f32
}

// CHECK-LABEL: func.func @returned
// CHECK-NOT:     fissile.kill
// CHECK:         return
func.func @returned() -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %cst = arith.constant 1.0 : f32
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.fill ins(%cst : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}

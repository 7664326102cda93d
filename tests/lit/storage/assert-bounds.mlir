// RUN: fissile-opt %s --fissile-assert-bounds 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.err

// A size that the caller chooses is checked at the entry, once, before anything runs.
// CHECK-LABEL: func.func @entry
// CHECK:         cf.assert {{.*}}, "@entry: tensor.insert_slice writes %m elements from 0 on in dimension 0; its destination has 10 (assert-bounds.mlir:[[#]])"
// CHECK-NOT:     cf.assert
// CHECK:         tensor.insert_slice
// REPORT: note[FIS202] tensor.insert_slice writes %m elements from 0 on in dimension 0; its destination has 10
// REPORT: checked at run time
// REPORT: it does not hold, for example, where %m is 11
func.func @entry(%y: tensor<16xf32>, %f: tensor<10xf32>, %m: index) -> tensor<10xf32> {
  %s = tensor.extract_slice %y[0] [%m] [1] : tensor<16xf32> to tensor<?xf32>
  %r = tensor.insert_slice %s into %f[0] [%m] [1] : tensor<?xf32> into tensor<10xf32>
  return %r : tensor<10xf32>
}

// What is proved leaves nothing.
// CHECK-LABEL: func.func @proved
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @proved(%y: tensor<16xf32>, %m: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %a = arith.minsi %m, %c16 : index
  %n = arith.maxsi %a, %c0 : index
  %s = tensor.extract_slice %y[0] [%n] [1] : tensor<16xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}

// A check leaves its loop: the last round is the worst.
// CHECK-LABEL: func.func @loop
// CHECK:         cf.assert {{.*}}, "@loop: %i must be in 0..15: tensor.extract reads %x there
// CHECK:         scf.for
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @loop(%x: tensor<16xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> f32 {
    %e = tensor.extract %x[%i] : tensor<16xf32>
    %b = arith.addf %a, %e : f32
    scf.yield %b : f32
  }
  return %s : f32
}

// Indices that only a dispatch sees are clamped there; one reduction over them is read at the end.
// CHECK-LABEL: func.func @gather
// CHECK:         [[LAST:%.+]] = arith.constant 7 : index
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK:         arith.minui {{%.+}}, [[LAST]] : index
// CHECK-NEXT:    tensor.extract
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK:         tensor.extract
// CHECK:         cf.assert {{.*}}, "@gather: every element of %j must be in 0..7: linalg.generic reads %x there{{.*}}; got a negative one"
// CHECK:         cf.assert {{.*}}, "@gather: every element of %j {{.*}}; got one above 7"
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @gather(%x: tensor<8xf32>, %j: tensor<4xi32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%j : tensor<4xi32>) outs(%o : tensor<4xf32>) {
  ^bb0(%p: i32, %q: f32):
    %i = arith.index_cast %p : i32 to index
    %e = tensor.extract %x[%i] : tensor<8xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

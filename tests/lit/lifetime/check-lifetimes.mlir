// RUN: not fissile-opt %s --fissile-check-lifetimes -o %t.same 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: FileCheck %s --check-prefix=TWINS < %t.err
// The twins, whose names begin with %ok, are silent.
// TWINS-NOT: %ok

// CHECK-DAG: error[FIS301] %leaked is never released
func.func @leak() {
  %leaked = memref.alloc() : memref<4xf32>
  memref.copy %leaked, %leaked : memref<4xf32> to memref<4xf32>
  return
}
func.func @no_leak() -> memref<4xf32> {
  %ok1 = memref.alloc() : memref<4xf32>
  return %ok1 : memref<4xf32>
}

// CHECK-DAG: error[FIS304] %some is not released on every path
// CHECK-DAG: on a path where the condition of scf.if in line {{.*}} is false
func.func @some_paths(%c: i1) {
  %some = memref.alloc() : memref<4xf32>
  scf.if %c { memref.dealloc %some : memref<4xf32> }
  return
}
// The same condition decides both times, and its opposite decides the rest.
func.func @all_paths(%c: i1) {
  %true = arith.constant true
  %not = arith.xori %c, %true : i1
  %ok2 = memref.alloc() : memref<4xf32>
  scf.if %c { memref.dealloc %ok2 : memref<4xf32> }
  scf.if %not { memref.dealloc %ok2 : memref<4xf32> }
  return
}

// CHECK-DAG: error[FIS302] %twice is released twice
func.func @twice() {
  %twice = memref.alloc() : memref<4xf32>
  %view = memref.cast %twice : memref<4xf32> to memref<?xf32>
  memref.dealloc %twice : memref<4xf32>
  memref.dealloc %view : memref<?xf32>
  return
}
func.func @two() {
  %ok3 = memref.alloc() : memref<4xf32>
  %ok4 = memref.alloc() : memref<4xf32>
  memref.dealloc %ok3 : memref<4xf32>
  memref.dealloc %ok4 : memref<4xf32>
  return
}

// CHECK-DAG: error[FIS303] memref.load uses %early after its release
func.func @after() -> f32 {
  %c0 = arith.constant 0 : index
  %early = memref.alloc() : memref<4xf32>
  %view = memref.subview %early[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  memref.dealloc %early : memref<4xf32>
  %l = memref.load %view[%c0] : memref<2xf32, strided<[1], offset: 1>>
  return %l : f32
}

// In a loop the release of one round comes before the use of the next.
// CHECK-DAG: error[FIS303] memref.copy uses %round after its release
// CHECK-DAG: error[FIS302] %round is released twice
func.func @next_round(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %round = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.copy %round, %round : memref<4xf32> to memref<4xf32>
    memref.dealloc %round : memref<4xf32>
  }
  return
}
func.func @one_round() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok5 = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %c1 step %c1 {
    memref.copy %ok5, %ok5 : memref<4xf32> to memref<4xf32>
    memref.dealloc %ok5 : memref<4xf32>
  }
  return
}

// CHECK-DAG: error[FIS305] memref.dealloc of %pure is inside linalg.generic
func.func @pure(%t: tensor<4xf32>) -> tensor<4xf32> {
  %pure = memref.alloc() : memref<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%t : tensor<4xf32>) {
  ^bb0(%x: f32):
    memref.dealloc %pure : memref<4xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-DAG: error[FIS306] %global is released, and memref.get_global is not an allocation
memref.global "private" constant @k : memref<4xf32> = dense<1.0>
func.func @constant() {
  %global = memref.get_global @k : memref<4xf32>
  memref.dealloc %global : memref<4xf32>
  return
}

// Through calls: what the callee releases, the caller must not.
// CHECK-DAG: error[FIS302] %given is released twice
func.func private @frees(%m: memref<4xf32>) {
  memref.dealloc %m : memref<4xf32>
  return
}
func.func @caller() {
  %given = memref.alloc() : memref<4xf32>
  call @frees(%given) : (memref<4xf32>) -> ()
  memref.dealloc %given : memref<4xf32>
  return
}
func.func @right_caller() {
  %ok6 = memref.alloc() : memref<4xf32>
  call @frees(%ok6) : (memref<4xf32>) -> ()
  return
}

// Two decisions that may exclude each other: a warning, and not an error.
// CHECK-DAG: warning[FIS304] %may is not released on every path
func.func @may(%c: i1, %d: i1) {
  %may = memref.alloc() : memref<4xf32>
  scf.if %c { memref.dealloc %may : memref<4xf32> } else { scf.if %d { memref.dealloc %may : memref<4xf32> } }
  return
}

// RUN: fissile-opt %s --fissile-insert-kills --fissile-check-lifetimes 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SILENT --allow-empty < %t.err
// RUN: fissile-opt %s --fissile-insert-kills -o %t.once
// RUN: fissile-opt %t.once --fissile-insert-kills -o %t.twice
// RUN: diff %t.once %t.twice
// SILENT-NOT: FIS

// A loop that carries its buffer: each round releases the one that came in, the result is the caller's.
// CHECK-LABEL: func.func @loop
// CHECK:         scf.for {{.*}} iter_args(%[[IN:.*]] = %{{.*}})
// CHECK:           memref.copy %[[IN]], %[[NEW:.*]] :
// CHECK-NEXT:      memref.dealloc %[[IN]]
// CHECK-NEXT:      scf.yield %[[NEW]]
// CHECK:         memref.load %[[OUT:.*]][
// CHECK-NEXT:    memref.dealloc %[[OUT]]
func.func @loop(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %w = scf.for %i = %c0 to %n step %c1 iter_args(%q = %a) -> memref<4xf32> {
    %x = memref.alloc() : memref<4xf32>
    memref.copy %q, %x : memref<4xf32> to memref<4xf32>
    scf.yield %x : memref<4xf32>
  }
  %l = memref.load %w[%c0] : memref<4xf32>
  return %l : f32
}

// CHECK-LABEL: func.func @swap
// CHECK:         %[[W:.*]]:2 = scf.for
// CHECK-NOT:     dealloc
// CHECK:         scf.yield
// CHECK:         memref.dealloc %[[W]]#1
// CHECK:         memref.load %[[W]]#0
// CHECK-NEXT:    memref.dealloc %[[W]]#0
func.func @swap(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %w:2 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %a, %p = %b) -> (memref<4xf32>, memref<4xf32>) {
    memref.copy %q, %p : memref<4xf32> to memref<4xf32>
    scf.yield %p, %q : memref<4xf32>, memref<4xf32>
  }
  %l = memref.load %w#0[%c0] : memref<4xf32>
  return %l : f32
}

// Early exits: each edge on which the buffer dies releases it.
// CHECK-LABEL: func.func @blocks
// CHECK:         cf.cond_br %{{.*}}, ^[[USE:.*]](%[[A:.*]] : memref<4xf32>), ^[[NOT:.*]]
// CHECK:       ^[[USE]](%[[X:.*]]: memref<4xf32>):
// CHECK:         memref.dealloc %[[X]]
// CHECK:       ^[[NOT]]:
// CHECK-NEXT:    memref.dealloc %[[A]]
// CHECK:         memref.copy %[[Y:.*]], %[[Y]]
// CHECK-NEXT:    memref.dealloc %[[Y]]
func.func @blocks(%c: i1) {
  %a = memref.alloc() : memref<4xf32>
  cf.cond_br %c, ^bb1(%a : memref<4xf32>), ^bb2
^bb1(%x: memref<4xf32>):
  %b = memref.alloc() : memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  cf.br ^bb3(%b : memref<4xf32>)
^bb2:
  %d = memref.alloc() : memref<4xf32>
  cf.br ^bb3(%d : memref<4xf32>)
^bb3(%y: memref<4xf32>):
  memref.copy %y, %y : memref<4xf32> to memref<4xf32>
  return
}

// The edge from the first block to the last has no block of its own: it gets one.
// CHECK-LABEL: func.func @edge
// CHECK:         cf.cond_br %{{.*}}, ^[[USE:.*]], ^[[NEW:bb[0-9]+]]
// CHECK:       ^[[NEW]]:
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    cf.br
// CHECK:       ^[[USE]]:
// CHECK:         memref.dealloc
func.func @edge(%c: i1) {
  %a = memref.alloc() : memref<4xf32>
  cf.cond_br %c, ^bb1, ^bb3
^bb1:
  memref.copy %a, %a : memref<4xf32> to memref<4xf32>
  cf.br ^bb3
^bb3:
  return
}

// One branch yields its own buffer, the other one the function's argument: the allocation is hoisted.
// CHECK-LABEL: func.func @not_owned_on_one_path
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         scf.if
// CHECK:         memref.load
// CHECK-NEXT:    memref.dealloc %[[A]]
func.func @not_owned_on_one_path(%c: i1, %arg: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %r = scf.if %c -> memref<4xf32> {
    %x = memref.alloc() : memref<4xf32>
    scf.yield %x : memref<4xf32>
  } else {
    scf.yield %arg : memref<4xf32>
  }
  %l = memref.load %r[%c0] : memref<4xf32>
  return %l : f32
}

// What a branch gives away is released in the other one; what is returned is the caller's.
// CHECK-LABEL: func.func @given
// CHECK:         scf.if
// CHECK:           memref.copy %[[A:.*]], %[[X:.*]] :
// CHECK-NEXT:      memref.dealloc %[[A]]
// CHECK-NEXT:      scf.yield %[[X]]
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %[[A]]
// CHECK-NOT:     dealloc
// CHECK:         return
func.func @given(%c: i1) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %a, %a : memref<4xf32> to memref<4xf32>
  %r = scf.if %c -> memref<4xf32> {
    %x = memref.alloc() : memref<4xf32>
    memref.copy %a, %x : memref<4xf32> to memref<4xf32>
    scf.yield %x : memref<4xf32>
  } else {
    scf.yield %a : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// CHECK-LABEL: func.func @caller
// CHECK:         %[[R:.*]] = call @given
// CHECK:         memref.load
// CHECK-NEXT:    memref.dealloc %[[R]]
func.func @caller(%c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %r = func.call @given(%c) : (i1) -> memref<4xf32>
  %l = memref.load %r[%c0] : memref<4xf32>
  return %l : f32
}

// CHECK-LABEL: func.func @while
// CHECK:         scf.condition
// CHECK:           memref.copy %[[Q:.*]], %[[X:.*]] :
// CHECK-NEXT:      memref.dealloc %[[Q]]
// CHECK:         memref.load %[[W:.*]]#1
// CHECK-NEXT:    memref.dealloc %[[W]]#1
func.func @while(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %w:2 = scf.while (%i = %c0, %q = %a) : (index, memref<4xf32>) -> (index, memref<4xf32>) {
    %cc = arith.cmpi slt, %i, %n : index
    scf.condition(%cc) %i, %q : index, memref<4xf32>
  } do {
  ^bb0(%i: index, %q: memref<4xf32>):
    %x = memref.alloc() : memref<4xf32>
    memref.copy %q, %x : memref<4xf32> to memref<4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %x : index, memref<4xf32>
  }
  %l = memref.load %w#1[%c0] : memref<4xf32>
  return %l : f32
}

// A view keeps its buffer alive; a select keeps both.
// CHECK-LABEL: func.func @views
// CHECK:         memref.load %{{.*}}[
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    memref.dealloc
func.func @views(%c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %va = memref.subview %a[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  %vb = memref.subview %b[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  %s = arith.select %c, %va, %vb : memref<4xf32, strided<[1], offset: 2>>
  %l = memref.load %s[%c0] : memref<4xf32, strided<[1], offset: 2>>
  return %l : f32
}

// Stored in memory, or handed to a function without a body: not this function's to release.
// CHECK-LABEL: func.func @escapes
// CHECK-NOT:     dealloc
// CHECK:         return
func.func private @keep(memref<4xf32>)
func.func @escapes(%table: memref<1xmemref<4xf32>>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  memref.store %a, %table[%c0] : memref<1xmemref<4xf32>>
  return
}

// Releases that are there are moved behind the last use, one of two is dropped, a constant's is removed.
memref.global "private" constant @k : memref<4xf32> = dense<1.0>
// CHECK-LABEL: func.func @wrong_places
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK-NOT:     dealloc
// CHECK:         memref.load
// CHECK-NEXT:    memref.dealloc %[[A]]
// CHECK-NOT:     dealloc
// CHECK:         return
func.func @wrong_places(%c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %k = memref.get_global @k : memref<4xf32>
  %a = memref.alloc() : memref<4xf32>
  memref.copy %k, %a : memref<4xf32> to memref<4xf32>
  memref.dealloc %k : memref<4xf32>
  scf.if %c {
    memref.dealloc %a : memref<4xf32>
  }
  %l = memref.load %a[%c0] : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return %l : f32
}

// Given away to a loop inside a branch without an else: the else is written.
// CHECK-LABEL: func.func @no_else
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         scf.if
// CHECK:           %[[W:.*]] = scf.for
// CHECK:           memref.dealloc %[[W]]
// CHECK:         } else {
// CHECK-NEXT:      memref.dealloc %[[A]]
// CHECK-NEXT:    }
func.func @no_else(%c: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  scf.if %c {
    %w = scf.for %i = %c0 to %n step %c1 iter_args(%q = %a) -> memref<4xf32> {
      %x = memref.alloc() : memref<4xf32>
      memref.copy %q, %x : memref<4xf32> to memref<4xf32>
      scf.yield %x : memref<4xf32>
    }
  }
  return
}

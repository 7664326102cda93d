// RUN: fissile-opt %s --fissile-insert-kills --fissile-check-lifetimes 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SILENT --allow-empty < %t.err
// RUN: fissile-opt %s --fissile-insert-kills -o %t.once
// RUN: fissile-opt %t.once --fissile-insert-kills -o %t.twice
// RUN: diff %t.once %t.twice
// SILENT-NOT: FIS

// Both edges of a branch go to one block, with another buffer each: each edge releases the other one.
// CHECK-LABEL: func.func @doubled
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         %[[B:.*]] = memref.alloc
// CHECK:         memref.dealloc %[[A]]
// CHECK-NEXT:    cf.br ^[[MEET:.*]](%[[B]] : memref<8xf32>)
// CHECK:         memref.dealloc %[[B]]
// CHECK-NEXT:    cf.br ^[[MEET]](%[[A]] : memref<8xf32>)
// CHECK:       ^[[MEET]](%[[X:.*]]: memref<8xf32>):
// CHECK:         memref.dealloc %[[X]]
func.func @doubled(%c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  cf.cond_br %c, ^meet(%a : memref<8xf32>), ^meet(%b : memref<8xf32>)
^meet(%x: memref<8xf32>):
  %l = memref.load %x[%c0] : memref<8xf32>
  return %l : f32
}

// A switch: two of its edges go to a block that uses neither buffer, and each gets a block with both releases.
// CHECK-LABEL: func.func @switch
// CHECK:         cf.switch
// CHECK-COUNT-6: memref.dealloc
// CHECK:         memref.load %[[Y:.*]][
// CHECK-NEXT:    memref.dealloc %[[Y]]
// CHECK-NOT:     memref.dealloc
func.func @switch(%k: i32) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  cf.switch %k : i32, [ default: ^meet(%a : memref<8xf32>), 1: ^meet(%b : memref<8xf32>), 2: ^none, 3: ^none ]
^meet(%x: memref<8xf32>):
  %l = memref.load %x[%c0] : memref<8xf32>
  return %l : f32
^none:
  %z = arith.constant 1.0 : f32
  return %z : f32
}

// Which argument comes back depends on the path: both live as long as the result does.
func.func private @either(%c: i1, %m: memref<8xf32>, %n: memref<8xf32>) -> memref<8xf32> {
  %r = scf.if %c -> memref<8xf32> {
    scf.yield %m : memref<8xf32>
  } else {
    scf.yield %n : memref<8xf32>
  }
  return %r : memref<8xf32>
}
// CHECK-LABEL: func.func @arguments
// CHECK:         %[[R:.*]] = call @either
// CHECK-NEXT:    memref.load %[[R]]
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    memref.dealloc
func.func @arguments(%c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %p = call @either(%c, %a, %b) : (i1, memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  %l = memref.load %p[%c0] : memref<8xf32>
  return %l : f32
}

// Recursion: what a function hands to its caller it hands to itself, too.
// CHECK-LABEL: func.func private @deep
// CHECK-NOT:     memref.dealloc
func.func private @deep(%n: index) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %z -> memref<8xf32> {
    %a = memref.alloc() : memref<8xf32>
    scf.yield %a : memref<8xf32>
  } else {
    %m = arith.subi %n, %c1 : index
    %b = func.call @deep(%m) : (index) -> memref<8xf32>
    scf.yield %b : memref<8xf32>
  }
  return %r : memref<8xf32>
}
// CHECK-LABEL: func.func @recursion
// CHECK:         %[[D:.*]] = call @deep
// CHECK:         memref.dealloc %[[D]]
func.func @recursion(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %b = call @deep(%n) : (index) -> memref<8xf32>
  %l = memref.load %b[%c0] : memref<8xf32>
  return %l : f32
}

// A loop that begins with the caller's buffer and goes on with its own: a flag goes along, and the program decides.
// CHECK-LABEL: func.func @flag
// CHECK:         %[[W:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[MINE:.*]] = %false)
// CHECK:           scf.if %[[MINE]]
// CHECK-NEXT:        memref.dealloc
// CHECK:           scf.yield %{{.*}}, %true
// CHECK:         scf.if %[[W]]#1
// CHECK-NEXT:      memref.dealloc
func.func @flag(%n: index, %given: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = scf.for %i = %c0 to %n step %c1 iter_args(%q = %given) -> memref<4xf32> {
    %x = memref.alloc() : memref<4xf32>
    memref.copy %q, %x : memref<4xf32> to memref<4xf32>
    scf.yield %x : memref<4xf32>
  }
  %l = memref.load %w[%c0] : memref<4xf32>
  return %l : f32
}

// A function returns one buffer twice, and a part of it with the whole: the caller releases each buffer once, by its whole name, behind the
// last use of both names.
func.func private @twice(%v: f32) -> (memref<8xf32>, memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%v : f32) outs(%a : memref<8xf32>)
  return %a, %a : memref<8xf32>, memref<8xf32>
}
func.func private @part(%v: f32) -> (memref<4xf32, strided<[1], offset: 2>>, memref<8xf32>) {
  %p:2 = call @twice(%v) : (f32) -> (memref<8xf32>, memref<8xf32>)
  %s = memref.subview %p#1[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  return %s, %p#0 : memref<4xf32, strided<[1], offset: 2>>, memref<8xf32>
}
// CHECK-LABEL: func.func @both
// CHECK:         %[[P:.*]]:2 = call @part
// CHECK:         %[[Q:.*]]:2 = call @twice
// CHECK:         memref.load %[[P]]#0
// CHECK-NEXT:    memref.dealloc %[[P]]#1
// CHECK-NEXT:    memref.load %[[Q]]#1
// CHECK-NEXT:    memref.dealloc %[[Q]]#0
// CHECK-NOT:     memref.dealloc
func.func @both(%v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %p:2 = call @part(%v) : (f32) -> (memref<4xf32, strided<[1], offset: 2>>, memref<8xf32>)
  %q:2 = call @twice(%v) : (f32) -> (memref<8xf32>, memref<8xf32>)
  %x = memref.load %p#0[%c0] : memref<4xf32, strided<[1], offset: 2>>
  %y = memref.load %q#1[%c0] : memref<8xf32>
  %z = arith.addf %x, %y : f32
  return %z : f32
}

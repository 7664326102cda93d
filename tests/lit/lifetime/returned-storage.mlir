// What a caller cannot know about storage that a function returns, and a function of which it does.
// RUN: fissile-opt %s --fissile-insert-kills 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=NOTES < %t.err
// RUN: FileCheck %s --check-prefix=TWIN < %t.err
// TWIN-NOT: %quiet

// The path decides whether the results are one buffer.
// NOTES: warning[FIS310] no release of %one was placed: whether it leaves the function, or other storage in its place, depends on the path
// NOTES: warning[FIS310] no release of %other was placed
func.func private @mixed(%c: i1) -> (memref<8xf32>, memref<8xf32>) {
  %one = memref.alloc() : memref<8xf32>
  cf.cond_br %c, ^same, ^different
^same:
  return %one, %one : memref<8xf32>, memref<8xf32>
^different:
  %other = memref.alloc() : memref<8xf32>
  return %one, %other : memref<8xf32>, memref<8xf32>
}

// The path decides whether the result is the caller's own argument.
// NOTES: warning[FIS310] no release of %made was placed
func.func private @lent(%v: memref<8xf32>, %c: i1) -> memref<8xf32> {
  cf.cond_br %c, ^given, ^new
^given:
  return %v : memref<8xf32>
^new:
  %made = memref.alloc() : memref<8xf32>
  return %made : memref<8xf32>
}

// CHECK-LABEL: func.func @unknown
// CHECK-NOT:     dealloc
// CHECK:         return
func.func @unknown(%c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %p:2 = call @mixed(%c) : (i1) -> (memref<8xf32>, memref<8xf32>)
  %q = call @lent(%p#0, %c) : (memref<8xf32>, i1) -> memref<8xf32>
  %x = memref.load %q[%c0] : memref<8xf32>
  return %x : f32
}

// A resource that another function allocates: the size that a release needs is not known.
// NOTES: warning[FIS310] no release of %r#0 was placed: its size is not known here: another function allocates it
util.func private @resource(%n: index) -> (!stream.resource<transient>, !stream.timepoint) {
  %r, %t = stream.resource.alloca uninitialized : !stream.resource<transient>{%n} => !stream.timepoint
  util.return %r, %t : !stream.resource<transient>, !stream.timepoint
}
// CHECK-LABEL: util.func public @work
// CHECK-NOT:     dealloca
util.func public @work(%n: index) -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %r:2 = util.call @resource(%n) : (index) -> (!stream.resource<transient>, !stream.timepoint)
  %t = stream.cmd.execute await(%r#1) => with(%r#0 as %a: !stream.resource<transient>{%n}) {
    stream.cmd.fill %z, %a[%c0 for %n] : i32 -> !stream.resource<transient>{%n}
  } => !stream.timepoint
  util.return %t : !stream.timepoint
}

// Each path returns one buffer twice.
func.func private @pair(%c: i1) -> (memref<8xf32>, memref<8xf32>) {
  cf.cond_br %c, ^left, ^right
^left:
  %quiet0 = memref.alloc() : memref<8xf32>
  return %quiet0, %quiet0 : memref<8xf32>, memref<8xf32>
^right:
  %quiet1 = memref.alloc() : memref<8xf32>
  return %quiet1, %quiet1 : memref<8xf32>, memref<8xf32>
}
// CHECK-LABEL: func.func @known
// CHECK:         memref.load %[[P:.*]]#1
// CHECK-NEXT:    memref.dealloc %[[P]]#0
// CHECK-NOT:     dealloc
func.func @known(%c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %quiet2:2 = call @pair(%c) : (i1) -> (memref<8xf32>, memref<8xf32>)
  %x = memref.load %quiet2#1[%c0] : memref<8xf32>
  return %x : f32
}

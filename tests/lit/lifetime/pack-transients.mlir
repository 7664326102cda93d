// Three slices, each larger than the one before it: placed in the order of the program they need all three sizes.
// RUN: fissile-opt %s --fissile-pack-transients 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.err
// With IREE's own pass alone the slab is larger.
// RUN: fissile-opt %s --pass-pipeline='builtin.module(util.func(iree-stream-layout-slices,canonicalize))' | FileCheck %s --check-prefix=STOCK
// Nothing is changed where only a report is wanted.
// RUN: fissile-opt %s --fissile-pack-transients='only-report=true' 2> %t.only | FileCheck %s --check-prefix=SAME
// RUN: FileCheck %s --check-prefix=ONLY < %t.only

// REPORT: repaired[FIS311] transients of 'grows' take 7168 bytes; 6144 are enough (14% less)
// REPORT-NOT: minimal
// ONLY: note[FIS311] transients of 'grows' take 7168 bytes; 6144 are enough

// CHECK-LABEL: util.func public @grows
// CHECK-DAG: %[[SIZE:.+]] = arith.constant 6144 : index
// CHECK-DAG: %[[HIGH:.+]] = arith.constant 4096 : index
// CHECK-NOT: stream.resource.pack
// STOCK-LABEL: util.func public @grows
// STOCK: arith.constant 7168 : index
// SAME: stream.resource.pack
util.func public @grows() -> (index, index, index, index) {
  %c1024 = arith.constant 1000 : index
  %c2048 = arith.constant 2048 : index
  %c4096 = arith.constant 4096 : index
  %p:4 = stream.resource.pack slices({
    [0, 1] = %c1024,
    [1, 2] = %c2048,
    [2, 3] = %c4096
  }) : index
  util.return %p#0, %p#1, %p#2, %p#3 : index, index, index, index
}

// A twin whose slab is as small as it can be: left to IREE.
// CHECK-LABEL: util.func public @minimal
// CHECK: stream.resource.pack
util.func public @minimal() -> (index, index, index) {
  %c64 = arith.constant 64 : index
  %p:3 = stream.resource.pack slices({
    [0, 1] = %c64,
    [2, 3] = %c64
  }) : index
  util.return %p#0, %p#1, %p#2 : index, index, index
}

// A size that is no multiple of the alignment: left to IREE.
// CHECK-LABEL: util.func public @dynamic
// CHECK: stream.resource.pack
util.func public @dynamic(%n: index) -> (index, index, index) {
  %c64 = arith.constant 64 : index
  %p:3 = stream.resource.pack slices({
    [0, 1] = %c64,
    [1, 3] = %n
  }) : index
  util.return %p#0, %p#1, %p#2 : index, index, index
}

// Multiples of one value share room, whatever it is; what is as small as it can be, or of another form, is left to IREE behind them.
// REPORT: repaired[FIS311] transients of 'multiples' take 7168 x %n bytes; 6144 x %n are enough (14% less)
// CHECK-LABEL: util.func public @multiples
// CHECK-SAME:    (%[[N:.+]]: index, %[[M:.+]]: index)
// CHECK-DAG:     %[[ROOM:.+]] = arith.muli %{{.+}}, %[[N]] : index
// CHECK:         %[[LEFT:.+]]:3 = stream.resource.pack offset(%{{.+}}) slices({
// CHECK-NEXT:      [1, 2] = %{{.+}},
// CHECK-NEXT:      [1, 4] = %[[M]]
// CHECK:         util.return %[[LEFT]]#0, %{{.+}}, %{{.+}}, %[[LEFT]]#1, %{{.+}}, %[[LEFT]]#2
util.func public @multiples(%n: index, %m: index) -> (index, index, index, index, index, index) {
  %c1024 = arith.constant 1024 : index
  %c2048 = arith.constant 2048 : index
  %c4096 = arith.constant 4096 : index
  %c64 = arith.constant 64 : index
  %one = arith.muli %n, %c1024 : index
  %two = arith.muli %c2048, %n : index
  %four = arith.muli %n, %c4096 : index
  %p:6 = stream.resource.pack slices({
    [0, 1] = %one,
    [1, 2] = %two,
    [1, 2] = %c64,
    [2, 3] = %four,
    [1, 4] = %m
  }) : index
  util.return %p#0, %p#1, %p#2, %p#3, %p#4, %p#5 : index, index, index, index, index, index
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-widen-host-integers)' | FileCheck %s

// The bits of i8 as the upper ones of i32: the order is the same.
// CHECK-LABEL: func.func @compare
// CHECK-SAME:    (%[[A:.*]]: i8, %[[B:.*]]: i8)
// CHECK:         %[[WIDE_A:.*]] = arith.extui %[[A]] : i8 to i32
// CHECK:         %[[HIGH_A:.*]] = arith.shli %[[WIDE_A]], %{{.*}} : i32
// CHECK:         %[[WIDE_B:.*]] = arith.extui %[[B]] : i8 to i32
// CHECK:         %[[HIGH_B:.*]] = arith.shli %[[WIDE_B]], %{{.*}} : i32
// CHECK:         arith.cmpi slt, %[[HIGH_A]], %[[HIGH_B]] : i32
func.func @compare(%a: i8, %b: i8) -> i1 {
  %r = arith.cmpi slt, %a, %b : i8
  return %r : i1
}

// CHECK-LABEL: func.func @index
// CHECK:         %[[HIGH:.*]] = arith.shli %{{.*}}, %{{.*}} : i32
// CHECK:         %[[SIGNED:.*]] = arith.shrsi %[[HIGH]], %{{.*}} : i32
// CHECK:         arith.index_cast %[[SIGNED]] : i32 to index
func.func @index(%a: i16) -> index {
  %r = arith.index_cast %a : i16 to index
  return %r : index
}

// In a loop and a branch, which run on the host.
// CHECK-LABEL: func.func @nested
// CHECK:         scf.for
// CHECK:           scf.if
// CHECK:             %[[MOST:.*]] = arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK:             %[[LOW:.*]] = arith.shrui %[[MOST]], %{{.*}} : i32
// CHECK:             arith.trunci %[[LOW]] : i32 to i8
func.func @nested(%n: index, %c: i1, %a: i8) -> i8 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (i8) {
    %t = scf.if %c -> (i8) {
      %m = arith.maxsi %s, %a : i8
      scf.yield %m : i8
    } else {
      scf.yield %s : i8
    }
    scf.yield %t : i8
  }
  return %r : i8
}

// CHECK-LABEL: func.func @loop
// CHECK-SAME:    (%[[A:.*]]: i8, %[[B:.*]]: i8)
// CHECK:         %[[LOW:.*]] = arith.shrsi
// CHECK:         %[[HIGH:.*]] = arith.shrsi
// CHECK:         %[[STEP:.*]] = arith.shrsi
// CHECK:         scf.for %[[I:.*]] = %[[LOW]] to %[[HIGH]] step %[[STEP]] {{.*}} : i32
// CHECK-NEXT:      %[[N:.*]] = arith.trunci %[[I]] : i32 to i8
// CHECK-NEXT:      arith.extsi %[[N]] : i8 to i32
func.func @loop(%a: i8, %b: i8) -> i32 {
  %c1 = arith.constant 1 : i8
  %z = arith.constant 0 : i32
  %r = scf.for %i = %a to %b step %c1 iter_args(%s = %z) -> (i32) : i8 {
    %w = arith.extsi %i : i8 to i32
    %t = arith.addi %s, %w : i32
    scf.yield %t : i32
  }
  return %r : i32
}

// True of i1 is -1.
// CHECK-LABEL: func.func @bits
// CHECK-SAME:    (%[[A:.*]]: i1, %[[B:.*]]: i1)
// CHECK:         %[[SUM:.*]] = arith.xori %[[A]], %[[B]] : i1
// CHECK:         arith.cmpi ugt, %[[SUM]], %[[B]] : i1
func.func @bits(%a: i1, %b: i1) -> i1 {
  %s = arith.addi %a, %b : i1
  %r = arith.cmpi slt, %s, %b : i1
  return %r : i1
}

// A dispatch computes with the type that it is given; 32 bits and more are the VM's own.
// CHECK-LABEL: func.func @elements
// CHECK:         arith.maxsi %{{.*}}, %{{.*}} : i8
// CHECK:         arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK-NOT:     arith.shli
func.func @elements(%x: tensor<8xi8>, %y: tensor<8xi8>, %n: i32) -> (tensor<8xi8>, i32) {
  %e = tensor.empty() : tensor<8xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xi8>, tensor<8xi8>) outs(%e : tensor<8xi8>) {
  ^bb0(%a: i8, %b: i8, %o: i8):
    %m = arith.maxsi %a, %b : i8
    linalg.yield %m : i8
  } -> tensor<8xi8>
  %c5 = arith.constant 5 : i32
  %k = arith.maxsi %n, %c5 : i32
  return %r, %k : tensor<8xi8>, i32
}

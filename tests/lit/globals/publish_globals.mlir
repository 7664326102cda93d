// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-publish-globals)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-publish-globals{globals=nobody})' 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: fissile-publish-globals: there is no global @nobody

// Another global is stored in it, and a constant that it does not begin with.
// CHECK:       util.global public mutable @before
// CHECK:       util.global private mutable @now
// CHECK:       util.global public mutable @reset
util.global private mutable @before = dense<0> : tensor<4xi32>
util.global private mutable @now = dense<7> : tensor<4xi32>
util.global private mutable @reset = dense<1> : tensor<4xi32>

// The constant that it begins with; two different ones; nothing that is loaded; what only an initializer stores.
// CHECK:       util.global private mutable @same
// CHECK:       util.global private mutable @either
// CHECK:       util.global private mutable @unread
// CHECK:       util.global private @weights
// CHECK:       util.global private mutable @copied
util.global private mutable @same = dense<1> : tensor<4xi32>
util.global private mutable @either = dense<1> : tensor<4xi32>
util.global private mutable @unread = dense<0> : tensor<4xi32>
util.global private @weights = dense<3> : tensor<4xi32>
util.global private mutable @copied : tensor<4xi32>
util.initializer {
  %w = util.global.load @weights : tensor<4xi32>
  util.global.store %w, @copied : tensor<4xi32>
  util.return
}

util.func public @f(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %one = arith.constant dense<1> : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %r = util.global.load @before : tensor<4xi32>
  %n = util.global.load @now : tensor<4xi32>
  util.global.store %n, @before : tensor<4xi32>
  util.global.store %n, @unread : tensor<4xi32>
  util.global.store %x, @now : tensor<4xi32>
  %a = util.global.load @reset : tensor<4xi32>
  util.global.store %two, @reset : tensor<4xi32>
  %b = util.global.load @same : tensor<4xi32>
  util.global.store %one, @same : tensor<4xi32>
  %c = util.global.load @either : tensor<4xi32>
  util.global.store %one, @either : tensor<4xi32>
  util.global.store %two, @either : tensor<4xi32>
  %d = util.global.load @copied : tensor<4xi32>
  util.return %r, %a, %b, %c, %d : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// Two that are stored together everywhere but in the branch.
// CHECK-DAG:   util.global public mutable @one
// CHECK-DAG:   util.global private mutable @two
util.global private mutable @one = dense<4> : tensor<4xi32>
util.global private mutable @two = dense<4> : tensor<4xi32>
util.func public @both(%x: tensor<4xi32>, %p: i1) {
  scf.if %p {
    util.global.store %x, @one : tensor<4xi32>
  }
  util.return
}
util.func public @set_both(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %a = util.global.load @one : tensor<4xi32>
  %b = util.global.load @two : tensor<4xi32>
  util.global.store %x, @one : tensor<4xi32>
  util.global.store %x, @two : tensor<4xi32>
  util.return %a, %b : tensor<4xi32>, tensor<4xi32>
}

// Two that are the same everywhere.
// CHECK-DAG:   util.global private mutable @three
// CHECK-DAG:   util.global private mutable @four
util.global private mutable @three = dense<5> : tensor<4xi32>
util.global private mutable @four = dense<5> : tensor<4xi32>
util.func public @always(%x: tensor<4xi32>, %p: i1) -> (tensor<4xi32>, tensor<4xi32>) {
  scf.if %p {
    util.global.store %x, @four : tensor<4xi32>
    util.global.store %x, @three : tensor<4xi32>
  }
  %a = util.global.load @three : tensor<4xi32>
  %b = util.global.load @four : tensor<4xi32>
  util.global.store %x, @three : tensor<4xi32>
  util.global.store %x, @four : tensor<4xi32>
  util.return %a, %b : tensor<4xi32>, tensor<4xi32>
}

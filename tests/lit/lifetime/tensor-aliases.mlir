// What gives a tensor on a storage another name: the release stands behind the last use of any, before and after canonicalization.
// RUN: fissile-opt %s --fissile-insert-kills --fissile-check-lifetimes 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SILENT --allow-empty < %t.err
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-insert-kills,canonicalize,cse,fissile-check-lifetimes)' 2> %t.err | FileCheck %s --check-prefix=ANY
// RUN: FileCheck %s --check-prefix=SILENT --allow-empty < %t.err
// RUN: fissile-opt %s --pass-pipeline='builtin.module(canonicalize,cse,fissile-insert-kills,fissile-check-lifetimes)' 2> %t.err | FileCheck %s --check-prefix=ANY
// RUN: FileCheck %s --check-prefix=SILENT --allow-empty < %t.err
// RUN: fissile-opt %s --fissile-insert-kills -o %t.once
// RUN: fissile-opt %t.once --fissile-insert-kills -o %t.twice
// RUN: diff %t.once %t.twice
// SILENT-NOT: FIS

flow.executable private @ex {}

// CHECK-LABEL: func.func @flow
// CHECK:         %[[U:.*]] = flow.tensor.update
// CHECK:         %[[I:.*]] = flow.dispatch @ex::@fn
// CHECK:         flow.tensor.load
// CHECK-NEXT:    "fissile.kill"
// CHECK-NOT:     fissile.kill
// ANY-LABEL:   func.func @flow
// ANY:           flow.tensor.load
// ANY-NEXT:      "fissile.kill"
func.func @flow(%x: tensor<4xf32>, %y: tensor<1x1xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %r = flow.tensor.reshape %f : tensor<4xf32> -> tensor<2x2xf32>
  %u = flow.tensor.update %y, %r[%c1, %c1] : tensor<1x1xf32> -> %r as tensor<2x2xf32>
  %d = flow.dispatch @ex::@fn(%u, %y) : (tensor<2x2xf32>, tensor<1x1xf32>) -> %u
  %i = flow.tensor.bitcast %d : tensor<2x2xf32> -> tensor<2x2xi32>
  %b = tensor.bitcast %i : tensor<2x2xi32> to tensor<2x2xf32>
  %e = iree_tensor_ext.bitcast %b : tensor<2x2xf32> -> tensor<2x2xi32>
  %g = flow.tensor.barrier %e : tensor<2x2xi32> on #hal.device.promise<@d>
  %h = flow.tensor.transfer %g : tensor<2x2xi32> to #hal.device.promise<@d>
  %c7 = arith.constant 7 : i32
  %w = flow.tensor.store %c7, %h[%c0, %c0] : tensor<2x2xi32>
  %l = flow.tensor.load %w[%c1, %c1] : tensor<2x2xi32>
  %v = arith.sitofp %l : i32 to f32
  return %v : f32
}

// A choice between two storages, and a branch that canonicalization makes one of.
// CHECK-LABEL: func.func @choice
// CHECK:         tensor.extract
// CHECK-NEXT:    "fissile.kill"
// CHECK-NEXT:    tensor.extract
// CHECK-NEXT:    "fissile.kill"
// ANY-LABEL:   func.func @choice
// ANY:           tensor.extract
// ANY-NEXT:      "fissile.kill"
// ANY-NEXT:      tensor.extract
// ANY-NEXT:      "fissile.kill"
func.func @choice(%x: tensor<4xf32>, %c: i1) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %s0 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t0 = "fissile.alloc_tensor"(%s0, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f0 = linalg.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t1 = "fissile.alloc_tensor"(%s1, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f1 = linalg.copy ins(%x : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %z = arith.select %c, %f0, %f1 : tensor<4xf32>
  %y = scf.if %c -> tensor<4xf32> { scf.yield %f1 : tensor<4xf32> } else { scf.yield %x : tensor<4xf32> }
  %r = tensor.extract %z[%c0] : tensor<4xf32>
  %q = tensor.extract %y[%c0] : tensor<4xf32>
  return %r, %q : f32, f32
}

// A choice by elements computes a new tensor, and so do a product and a part that is copied.
// CHECK-LABEL: func.func @computed
// CHECK:         flow.tensor.slice
// CHECK-NEXT:    "fissile.kill"
// CHECK-NEXT:    tensor.extract
// ANY-LABEL:   func.func @computed
func.func @computed(%x: tensor<4xf32>, %c: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %z = arith.select %c, %f, %x : tensor<4xi1>, tensor<4xf32>
  %m = arith.mulf %f, %two : tensor<4xf32>
  %l = flow.tensor.slice %f[%c0 for %c1] : tensor<4xf32> -> tensor<1xf32>
  %r = tensor.extract %m[%c0] : tensor<4xf32>
  return %z, %m, %l, %r : tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, f32
}

// New tensors that folding replaces by the one on the storage.
// CHECK-LABEL: func.func @folded
// CHECK:         tensor.extract %[[M:.*]][
// CHECK:         tensor.extract
// CHECK:         tensor.extract
// CHECK:         tensor.extract
// CHECK-NEXT:    "fissile.kill"
// ANY-LABEL:   func.func @folded
// ANY-COUNT-4:   tensor.extract
// ANY-NEXT:      "fissile.kill"
func.func @folded(%x: tensor<4xf32>) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %m = arith.mulf %f, %one : tensor<4xf32>
  %n = tensor.insert_slice %f into %x[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
  %o = flow.tensor.update %f, %x[%c0] : tensor<4xf32> -> %x as tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%f : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %r = tensor.extract %m[%c0] : tensor<4xf32>
  %q = tensor.extract %n[%c1] : tensor<4xf32>
  %p = tensor.extract %o[%c2] : tensor<4xf32>
  %k = tensor.extract %g[%c3] : tensor<4xf32>
  return %r, %q, %p, %k : f32, f32, f32, f32
}

// Functions that hand back an argument, a tensor on a storage that they are given, or one of two.
func.func private @same(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
util.func private @tied(%a: tensor<4xf32>) -> %a {
  util.return %a : tensor<4xf32>
}
util.func private @on(%s: !fissile.storage, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  util.return %f : tensor<4xf32>
}
func.func private @either(%c: i1, %a: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    %m = arith.mulf %a, %a : tensor<4xf32>
    scf.yield %m : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @new(%a: tensor<4xf32>) -> tensor<4xf32> {
  %m = arith.mulf %a, %a : tensor<4xf32>
  return %m : tensor<4xf32>
}
// CHECK-LABEL: func.func @calls
// CHECK:         util.call @on
// CHECK-NEXT:    call @same
// CHECK-NEXT:    util.call @tied
// CHECK-NEXT:    call @either
// CHECK-NEXT:    tensor.extract
// CHECK-NEXT:    "fissile.kill"
// ANY-LABEL:   func.func @calls
// ANY:           tensor.extract
// ANY-NEXT:      "fissile.kill"
func.func @calls(%x: tensor<4xf32>, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %f = util.call @on(%s, %x) : (!fissile.storage, tensor<4xf32>) -> tensor<4xf32>
  %a = func.call @same(%f) : (tensor<4xf32>) -> tensor<4xf32>
  %b = util.call @tied(%a) : (tensor<4xf32>) -> %a
  %d = func.call @either(%c, %b) : (i1, tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.extract %d[%c0] : tensor<4xf32>
  return %r : f32
}
// The twin: what comes back is new.
// CHECK-LABEL: func.func @new_result
// CHECK:         call @new
// CHECK-NEXT:    "fissile.kill"
// CHECK-NEXT:    return
// ANY-LABEL:   func.func @new_result
func.func @new_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %a = func.call @new(%f) : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// A function that stores its argument takes it for good.
util.global private mutable @state = dense<0.0> : tensor<4xf32>
func.func private @keeps(%a: tensor<4xf32>) {
  util.global.store %a, @state : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @kept
// CHECK-NOT:     fissile.kill
// CHECK:         return
// ANY-LABEL:   func.func @kept
// ANY-NOT:       fissile.kill
func.func @kept(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.call @keeps(%f) : (tensor<4xf32>) -> ()
  %g = util.global.load @state : tensor<4xf32>
  %r = tensor.extract %g[%c0] : tensor<4xf32>
  return %r : f32
}

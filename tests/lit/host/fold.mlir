// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-fold-host-floats)' | FileCheck %s

// -3.4e38 is -inf as f16, and 0.1 is rounded.
// CHECK-NOT:   @overflowing
// CHECK-NOT:   @rounded
util.global private @overflowing : f16
util.global private @rounded : bf16
util.initializer {
  %a = arith.constant -3.40282347E+38 : f32
  %b = arith.truncf %a : f32 to f16
  util.global.store %b, @overflowing : f16
  %c = arith.constant 0.1 : f64
  %d = arith.truncf %c : f64 to f32
  %e = arith.truncf %d : f32 to bf16
  util.global.store %e, @rounded : bf16
  util.return
}

// The twins: what is computed, and what the VM has a type for.
// CHECK:       util.global private mutable @computed : f16
// CHECK:       util.global private @wide : f32
util.global private mutable @computed : f16
util.global private @wide : f32
util.initializer {
  %a = arith.constant 0.1 : f64
  %b = arith.truncf %a : f64 to f32
  util.global.store %b, @wide : f32
  util.return
}

// CHECK-LABEL: util.func public @main
// CHECK:         arith.constant 0xFC00 : f16
// CHECK:         arith.constant 1.000980e-01 : bf16
// CHECK-NOT:     util.global.load @rounded
// CHECK:         util.global.load @wide
util.func public @main(%x: f16) -> (f16, bf16, f32) {
  util.global.store %x, @computed : f16
  %a = util.global.load @overflowing : f16
  %b = util.global.load @rounded : bf16
  %c = util.global.load @wide : f32
  util.return %a, %b, %c : f16, bf16, f32
}

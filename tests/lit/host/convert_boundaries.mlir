// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-convert-boundaries)' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-convert-boundaries{words=true})' | FileCheck %s --check-prefix=WORDS

// The caller has f64, the program computes with f32. The fence is signalled behind the conversion of the result.
// CHECK-LABEL: util.func public @demoted$async
// CHECK:         %[[IN:.*]] = hal.tensor.import wait(%{{.*}}) => %{{.*}} : !hal.buffer_view -> tensor<?xf64>{%{{.*}}}
// CHECK:         %[[NARROW:.*]] = linalg.generic {{.*}} ins(%[[IN]] : tensor<?xf64>)
// CHECK:           arith.truncf %{{.*}} : f64 to f32
// CHECK:         %[[SUM:.*]] = arith.addf %[[NARROW]], %[[NARROW]]
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<?xf32>)
// CHECK:           arith.extf %{{.*}} : f32 to f64
// CHECK:         %[[OUT:.*]]:2 = hal.tensor.barrier join(%[[SUM]], %[[WIDE]] : tensor<?xf32>, tensor<?xf64>)
// CHECK:         hal.tensor.export %[[OUT]]#1 : tensor<?xf64>
util.func public @demoted$async(%x: !hal.buffer_view, %n: index, %w: !hal.fence, %s: !hal.fence) -> !hal.buffer_view {
  %0 = hal.tensor.import wait(%w) => %x : !hal.buffer_view -> tensor<?xf64> as tensor<?xf32>{%n}
  %1 = arith.addf %0, %0 : tensor<?xf32>
  %2 = hal.tensor.barrier join(%1 : tensor<?xf32>) => %s : !hal.fence
  %3 = hal.tensor.export %2 : tensor<?xf64> as tensor<?xf32>{%n} -> !hal.buffer_view
  util.return %3 : !hal.buffer_view
}

// An argument that is overwritten, and returned in the program's type.
// CHECK-LABEL: util.func public @overwritten$async
// CHECK:         %[[SUM:.*]] = arith.addf
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<4xf32>)
// CHECK:         %[[ALIAS:.*]] = hal.tensor.alias wait(%{{.*}}) => %[[WIDE]] : tensor<4xf64> to %{{.*}} : !hal.buffer_view
// CHECK:         %[[OUT:.*]]:2 = hal.tensor.barrier join(%[[SUM]], %[[ALIAS]] : tensor<4xf32>, tensor<4xf64>)
// CHECK:         hal.tensor.export %[[OUT]]#0 : tensor<4xf32>
util.func public @overwritten$async(%x: !hal.buffer_view, %w: !hal.fence, %s: !hal.fence) -> !hal.buffer_view {
  %0 = hal.tensor.import wait(%w) => %x : !hal.buffer_view -> tensor<4xf64> as tensor<4xf32>
  %1 = arith.addf %0, %0 : tensor<4xf32>
  %2 = hal.tensor.alias wait(%w) => %1 : tensor<4xf32> to %x : !hal.buffer_view
  %3 = hal.tensor.barrier join(%2 : tensor<4xf32>) => %s : !hal.fence
  %4 = hal.tensor.export %3 : tensor<4xf32> -> !hal.buffer_view
  util.return %4 : !hal.buffer_view
}

// Integers, and two formats of 16 bits, without a fence.
// CHECK-LABEL: util.func public @others
// CHECK:         hal.tensor.import %{{.*}} -> tensor<4xi64>
// CHECK:           arith.trunci %{{.*}} : i64 to i32
// CHECK:         hal.tensor.import %{{.*}} -> tensor<4xbf16>
// CHECK:           arith.extf %{{.*}} : bf16 to f32
// CHECK:           arith.truncf %{{.*}} : f32 to f16
// CHECK:           arith.extsi %{{.*}} : i32 to i64
// CHECK:         hal.tensor.export %{{.*}} : tensor<4xi64>
// CHECK:         hal.tensor.export %{{.*}} : tensor<4xf16>
util.func public @others(%x: !hal.buffer_view, %y: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<4xi64> as tensor<4xi32>
  %1 = hal.tensor.import %y : !hal.buffer_view -> tensor<4xbf16> as tensor<4xf16>
  %2 = hal.tensor.export %0 : tensor<4xi64> as tensor<4xi32> -> !hal.buffer_view
  %3 = hal.tensor.export %1 : tensor<4xf16> -> !hal.buffer_view
  util.return %2, %3 : !hal.buffer_view, !hal.buffer_view
}

// An i1 is stored as an i8, and another shape of the same elements is none of its business.
// CHECK-LABEL: util.func public @alike
// CHECK-NOT:     linalg.generic
// CHECK:         util.return
util.func public @alike(%x: !hal.buffer_view, %y: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<4xi8> as tensor<4xi1>
  %1 = hal.tensor.import %y : !hal.buffer_view -> tensor<4xf32>
  %2 = hal.tensor.export %0 : tensor<4xi8> as tensor<4xi1> -> !hal.buffer_view
  %3 = hal.tensor.export %1 : tensor<2x2xf32> as tensor<4xf32> -> !hal.buffer_view
  util.return %2, %3 : !hal.buffer_view, !hal.buffer_view
}

// Without f64: the words of the doubles, the lower one first. Other types are converted as before.
// WORDS-LABEL: util.func public @others
// WORDS:         arith.trunci %{{.*}} : i64 to i32
// WORDS-LABEL: util.func public @complexes
// WORDS:         %[[IN:.*]] = hal.tensor.import %{{.*}} : !hal.buffer_view -> tensor<3xcomplex<f64>> as tensor<3x4xi32>
// WORDS-NOT:     f64
// WORDS:         linalg.generic {{.*}} outs(%{{.*}} : tensor<3xcomplex<f32>>)
// WORDS-COUNT-4:   tensor.extract %[[IN]]
// WORDS:         linalg.generic {{.*}} ins(%{{.*}} : tensor<3xcomplex<f32>>) outs(%{{.*}} : tensor<3x4xi32>)
// WORDS:         hal.tensor.export %{{.*}} : tensor<3xcomplex<f64>> as tensor<3x4xi32>
// CHECK-LABEL: util.func public @complexes
// CHECK:         hal.tensor.import %{{.*}} -> tensor<3xcomplex<f64>>
// CHECK:           %[[RE:.*]] = complex.re
// CHECK:           %[[IM:.*]] = complex.im
// CHECK:           arith.truncf %[[RE]] : f64 to f32
// CHECK:           arith.truncf %[[IM]] : f64 to f32
// CHECK:           complex.create
// CHECK:         hal.tensor.export %{{.*}} : tensor<3xcomplex<f64>>
util.func public @complexes(%x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<3xcomplex<f64>> as tensor<3xcomplex<f32>>
  %1 = hal.tensor.export %0 : tensor<3xcomplex<f64>> as tensor<3xcomplex<f32>> -> !hal.buffer_view
  util.return %1 : !hal.buffer_view
}

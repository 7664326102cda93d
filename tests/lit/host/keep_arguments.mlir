// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-keep-arguments{arguments=main:0})' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-keep-arguments)' | FileCheck %s --check-prefix=ALL

// The argument that is returned as it came is used once more at the end: IREE updates a copy of it.
// CHECK-LABEL: util.func public @main
// CHECK:         %[[X:.*]] = hal.tensor.import %{{.*}} : !hal.buffer_view -> tensor<8xf32>
// CHECK-COUNT-2: hal.tensor.export
// CHECK-NEXT:    util.optimization_barrier %[[X]] : tensor<8xf32>
// CHECK-NEXT:    util.return
// ALL-COUNT-2:   util.optimization_barrier
util.func public @main(%a: !hal.buffer_view, %b: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %x = hal.tensor.import %a : !hal.buffer_view -> tensor<8xf32>
  %v = hal.tensor.import %b : !hal.buffer_view -> tensor<2xf32>
  %r = tensor.insert_slice %v into %x[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %0 = hal.tensor.export %x : tensor<8xf32> -> !hal.buffer_view
  %1 = hal.tensor.export %r : tensor<8xf32> -> !hal.buffer_view
  util.return %0, %1 : !hal.buffer_view, !hal.buffer_view
}

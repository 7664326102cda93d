// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-read-by-element{ops=0 flat-sums=true})' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-read-by-element{ops=1 flat-sums=true})' | FileCheck %s --check-prefix=DYNAMIC

// Both loops of the sum are one, whose last is the fastest: the terms keep their order.
// CHECK-LABEL: func.func @bag
// CHECK-SAME:    (%{{.*}}: tensor<64xf32>, %[[IX:.*]]: tensor<4x24x2xi32>
// CHECK:         tensor.empty() : tensor<8xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK:           %[[AT:.*]] = linalg.index 0
// CHECK:           %[[TERM:.*]] = linalg.index 1
// CHECK:           %[[K:.*]] = arith.remui %[[TERM]], %{{.*}}
// CHECK:           %[[J:.*]] = arith.divui %[[TERM]], %{{.*}}
// CHECK:           tensor.extract %[[IX]][%[[J]], %[[AT]], %[[K]]]
func.func @bag(%t: tensor<64xf32>, %ix: tensor<4x24x2xi32>, %init: tensor<24xf32>) -> tensor<24xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> (i)>],
                       iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%ix : tensor<4x24x2xi32>) outs(%init : tensor<24xf32>) {
  ^bb0(%x: i32, %o: f32):
    %k = arith.index_cast %x : i32 to index
    %v = tensor.extract %t[%k] : tensor<64xf32>
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}

// A product of sizes that are not known is computed.
// DYNAMIC-LABEL: func.func @dynamic
// DYNAMIC:         %[[SIZE:.*]] = arith.muli
// DYNAMIC:         tensor.empty(%[[SIZE]]) : tensor<?xf32>
// DYNAMIC:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
func.func @dynamic(%ix: tensor<?x24x?xf32>, %init: tensor<24xf32>) -> tensor<24xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> (i)>],
                       iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%ix : tensor<?x24x?xf32>) outs(%init : tensor<24xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}

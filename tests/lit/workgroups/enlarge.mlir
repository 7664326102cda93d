// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-enlarge-workgroups)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-enlarge-workgroups{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// Doubled from the innermost loop outwards, until 65535 workgroups are enough.
// CHECK: tile_sizes = {{\[\[}}4, 256], [1, 1]]
// CHECK-LABEL: func.func @large
// CHECK: linalg.generic {{.*}}compilation_info
func.func @large(%x: tensor<131072x200xf32>) -> tensor<131072x200xf32> {
  %e = tensor.empty() : tensor<131072x200xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<131072x200xf32>) outs(%e : tensor<131072x200xf32>) {
  ^bb0(%a: f32, %_: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<131072x200xf32>
  return %r : tensor<131072x200xf32>
}

// WRONG: error[FIS114] linalg.reduce cannot have larger workgroups: it is not elementwise
// CHECK-LABEL: func.func @silent
// CHECK-NOT: compilation_info
func.func @silent(%x: tensor<131072x2000xf32>, %e: tensor<131072xf32>, %y: tensor<8xf32>) -> (tensor<131072xf32>, tensor<8xf32>) {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<131072x2000xf32>) outs(%e : tensor<131072xf32>) dimensions = [1]
  %e8 = tensor.empty() : tensor<8xf32>
  %s = linalg.transpose ins(%y : tensor<8xf32>) outs(%e8 : tensor<8xf32>) permutation = [0]
  return %r, %s : tensor<131072xf32>, tensor<8xf32>
}

func.func @main(%n: index, %x: tensor<4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %far = arith.constant 400000000 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %l = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %f) -> tensor<?xf32> {
    %k = affine.min affine_map<(d0) -> (1, 2 - d0)>(%i)
    %s = tensor.extract_slice %x[%i] [%k] [1] : tensor<4xf32> to tensor<?xf32>
    %b = tensor.empty(%k) : tensor<?xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%s : tensor<?xf32>) outs(%b : tensor<?xf32>) {
    ^bb0(%p: f32, %o: f32): %q = arith.addf %p, %p : f32 linalg.yield %q : f32 } -> tensor<?xf32>
    %w = tensor.insert_slice %g into %a[%far] [%k] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %w : tensor<?xf32> }
  return %l : tensor<?xf32>
}

func.func @f(%x: tensor<?x?xi32>, %n: index, %m: index) -> tensor<4x4x2x2xi32> {
  %d = tensor.empty(%n, %m) : tensor<?x?x2x2xi32>
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %d : tensor<?x?xi32> -> tensor<?x?x2x2xi32>
  %c = tensor.cast %p : tensor<?x?x2x2xi32> to tensor<4x4x2x2xi32>
  return %c : tensor<4x4x2x2xi32>
}

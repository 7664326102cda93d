func.func @f(%a: tensor<8xi8>) -> tensor<1xi8> {
  %e = tensor.empty() : tensor<8xi1, #iree_encoding.packed_storage>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xi8>) outs(%e : tensor<8xi1, #iree_encoding.packed_storage>) {
  ^bb0(%in: i8, %out: i1):
    %z = arith.constant 0 : i8
    %n = arith.cmpi sgt, %in, %z : i8
    linalg.yield %n : i1
  } -> tensor<8xi1, #iree_encoding.packed_storage>
  %b = flow.tensor.bitcast %r : tensor<8xi1, #iree_encoding.packed_storage> -> tensor<1xi8>
  return %b : tensor<1xi8>
}

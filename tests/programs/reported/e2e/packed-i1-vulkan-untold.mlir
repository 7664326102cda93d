func.func @f(%a: tensor<1xi8>) -> tensor<1xi8> {
  %x = flow.tensor.bitcast %a : tensor<1xi8> -> tensor<8xi1, #iree_encoding.packed_storage>
  %e = tensor.empty() : tensor<8xi1, #iree_encoding.packed_storage>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi1, #iree_encoding.packed_storage>) outs(%e : tensor<8xi1, #iree_encoding.packed_storage>) {
  ^bb0(%in: i1, %out: i1):
    %t = arith.constant true
    %n = arith.xori %in, %t : i1
    linalg.yield %n : i1
  } -> tensor<8xi1, #iree_encoding.packed_storage>
  %b = flow.tensor.bitcast %r : tensor<8xi1, #iree_encoding.packed_storage> -> tensor<1xi8>
  return %b : tensor<1xi8>
}

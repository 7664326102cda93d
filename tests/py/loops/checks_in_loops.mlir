func.func @main(%x0: tensor<?xi32>, %x1: tensor<?xi32>, %n: index) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %limit = arith.constant 50 : i32
  %k0s = arith.constant dense<[3, 3, 3, 0]> : tensor<4xi32>
  %k0 = tensor.cast %k0s : tensor<4xi32> to tensor<?xi32>
  %k1s = arith.constant dense<[3, 7, 6, 5]> : tensor<4xi32>
  %k1 = tensor.cast %k1s : tensor<4xi32> to tensor<?xi32>
  %v1m = arith.minui %n, %c2 : index
  %v1s = tensor.extract_slice %k1[%c0] [%v1m] [1] : tensor<?xi32> to tensor<?xi32>
  %v1 = tensor.insert_slice %v1s into %x0[%c1] [%v1m] [1] : tensor<?xi32> into tensor<?xi32>
  %r6:4 = scf.for %ir6 = %c0 to %c2 step %c1 iter_args(%a2 = %v1, %a3 = %k0, %a4 = %v1, %a5 = %x0) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
    %r8:1 = scf.for %ir8 = %c0 to %n step %c1 iter_args(%a7 = %v1) -> (tensor<?xi32>) {
      %q12 = tensor.extract %a7[%c1] : tensor<?xi32>
      %v11 = tensor.insert %q12 into %k1[%c0] : tensor<?xi32>
      scf.yield %v11 : tensor<?xi32>
    }
    scf.yield %a2, %a3, %r8#0, %a5 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
  }
  %pf13 = arith.cmpi eq, %n, %c2 : index
  %f13:3 = scf.if %pf13 -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
    %w17:4 = scf.while (%iw17 = %c0, %a14c = %k0, %a15c = %v1, %a16c = %x1) : (index, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (index, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
      %morew17 = arith.cmpi ult, %iw17, %c2 : index
      scf.condition(%morew17) %iw17, %a14c, %a15c, %a16c : index, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
    } do {
    ^bb0(%iw17: index, %a14: tensor<?xi32>, %a15: tensor<?xi32>, %a16: tensor<?xi32>):
      %nextw17 = arith.addi %iw17, %c1 : index
      scf.yield %nextw17, %a16, %a14, %a15 : index, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
    }
    %ef18 = tensor.extract %w17#3[%c1] : tensor<?xi32>
    %pf18 = arith.cmpi slt, %ef18, %limit : i32
    %f18:3 = scf.if %pf18 -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
      scf.yield %k0, %x0, %r6#3 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
    } else {
      scf.yield %x0, %v1, %x0 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
    }
    scf.yield %f18#1, %w17#1, %f18#1 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
  } else {
    %v19 = arith.maxsi %r6#0, %r6#0 : tensor<?xi32>
    %pf20 = arith.cmpi eq, %n, %c2 : index
    %f20:2 = scf.if %pf20 -> (tensor<?xi32>, tensor<?xi32>) {
      scf.yield %k0, %k1 : tensor<?xi32>, tensor<?xi32>
    } else {
      %q22 = tensor.extract %r6#3[%c3] : tensor<?xi32>
      %v21 = tensor.insert %q22 into %v1[%c1] : tensor<?xi32>
      %q24 = tensor.extract %v21[%c0] : tensor<?xi32>
      %v23 = tensor.insert %q24 into %r6#1[%c0] : tensor<?xi32>
      scf.yield %v21, %v23 : tensor<?xi32>, tensor<?xi32>
    }
    scf.yield %f20#0, %f20#1, %v19 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
  }
  return %r6#0, %r6#3, %f13#1, %f13#2 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
}
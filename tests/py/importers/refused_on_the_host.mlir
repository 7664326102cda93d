func.func @switch(%n: i32, %x: tensor<8xf32>) -> tensor<8xf32> {
  %i = arith.index_cast %n : i32 to index
  %r = scf.index_switch %i -> tensor<8xf32>
  case 0 {
    %y = arith.addf %x, %x : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  case 3 {
    scf.yield %x : tensor<8xf32>
  }
  default {
    %y = arith.mulf %x, %x : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The second thread reads what the first one writes, as it was before the loop.
func.func @threads(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.forall (%i) = (0) to (8) step (4) shared_outs(%o = %x) -> tensor<8xf32> {
    %s = tensor.extract_slice %x[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %v = tensor.extract_slice %o[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %y = arith.addf %s, %v : tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

func.func @reduction(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.parallel (%i) = (%zero) to (%three) step (%one) init (%x) -> tensor<8xf32> {
    scf.reduce(%x : tensor<8xf32>) {
    ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
      %s = arith.addf %a, %b : tensor<8xf32>
      scf.reduce.return %s : tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

func.func @affine_loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = affine.for %i = 0 to 8 iter_args(%t = %x) -> tensor<8xf32> {
    %y = arith.addf %t, %x : tensor<8xf32>
    affine.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func @affine_branch(%n: i32, %x: tensor<8xf32>) -> tensor<8xf32> {
  %i = arith.index_cast %n : i32 to index
  %r = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) -> tensor<8xf32> {
    %y = arith.addf %x, %x : tensor<8xf32>
    affine.yield %y : tensor<8xf32>
  } else {
    affine.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func @affine_reduction(%x: tensor<8xf32>) -> f32 {
  %r = affine.parallel (%i) = (0) to (8) reduce ("addf") -> f32 {
    %v = tensor.extract %x[%i] : tensor<8xf32>
    affine.yield %v : f32
  }
  return %r : f32
}

func.func @same_everywhere(%n: i32, %v: f32) -> tensor<?x3xf32> {
  %i = arith.index_cast %n : i32 to index
  %r = tensor.splat %v[%i] : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

func.func @by_place(%n: i32) -> tensor<?x4xi32> {
  %rows = arith.index_cast %n : i32 to index
  %r = tensor.generate %rows {
  ^bb0(%i: index, %j: index):
    %ten = arith.constant 10 : index
    %a = arith.muli %i, %ten : index
    %b = arith.addi %a, %j : index
    %c = arith.index_cast %b : index to i32
    tensor.yield %c : i32
  } : tensor<?x4xi32>
  return %r : tensor<?x4xi32>
}

func.func @border_by_place(%x: tensor<?x2xi32>, %n: i32) -> tensor<?x4xi32> {
  %low = arith.index_cast %n : i32 to index
  %r = tensor.pad %x low[%low, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    %ten = arith.constant 10 : index
    %a = arith.muli %i, %ten : index
    %b = arith.addi %a, %j : index
    %c = arith.index_cast %b : index to i32
    tensor.yield %c : i32
  } : tensor<?x2xi32> to tensor<?x4xi32>
  return %r : tensor<?x4xi32>
}

// A dispatch that the program brings: what is inside of it is code already and stays.
flow.executable private @own {
  flow.executable.export public @double workgroups() -> (index, index, index) {
    %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
    flow.return %x, %y, %z : index, index, index
  }
  builtin.module {
    func.func @double(%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>,
        %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>) {
      %x = iree_tensor_ext.dispatch.tensor.load %in, offsets = [0], sizes = [4], strides = [1]
          : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
      %e = tensor.empty() : tensor<4xf32>
      %y = linalg.elementwise <add> ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      iree_tensor_ext.dispatch.tensor.store %y, %out, offsets = [0], sizes = [4], strides = [1]
          : tensor<4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>
      return
    }
  }
}

func.func @beside_a_dispatch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = flow.dispatch @own::@double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = scf.forall (%i) in (2) shared_outs(%o = %y) -> tensor<4xf32> {
    %one = arith.constant dense<1.0> : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}

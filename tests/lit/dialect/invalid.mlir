// Ill-formed ops are refused by the in-process verifier and by the IRDL registration.
// RUN: not fissile-opt --split-input-file %s 2>&1 | FileCheck %s --check-prefix=OPT
// RUN: not iree-opt --irdl-file=%irdl --split-input-file %s 2>&1 | FileCheck %s --check-prefix=IRDL

// OPT: error[FIS402] fissile.boundary: its result has the type of its operand, tensor<4xf32>, not tensor<8xf32>
// OPT-NEXT: invalid.mlir:[[# @LINE + 3]]:8
// IRDL: invalid.mlir:[[# @LINE + 2]]:{{.*}}error: expected 'tensor<4xf32>' but got 'tensor<8xf32>'
func.func @types_differ(%t: tensor<4xf32>) {
  %0 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// OPT: error[FIS402] fissile.boundary: its operand is a ranked tensor, not tensor<*xf32>
// IRDL: error: expected base type 'builtin.tensor' but got 'builtin.unranked_tensor'
func.func @unranked(%t: tensor<*xf32>) {
  %0 = "fissile.boundary"(%t) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

// OPT: error[FIS402] fissile.boundary: it takes 1 operand, not 2
// IRDL: error: op expects exactly 1 operands, but got 2
func.func @two_operands(%t: tensor<4xf32>) {
  %0 = "fissile.boundary"(%t, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// OPT: error[FIS402] fissile.require: it needs a sentence for the case that it does not hold: {message = "…"}
// IRDL: error: 'fissile.require' op attribute "message" is expected but not provided
func.func @no_message(%c: i1) {
  "fissile.require"(%c) : (i1) -> ()
  return
}

// -----

// OPT: error[FIS402] fissile.require: its condition is an i1, not i32
// IRDL: error: expected 'i1' but got 'i32'
func.func @not_a_condition(%c: i32) {
  "fissile.require"(%c) {message = "no"} : (i32) -> ()
  return
}

// -----

// OPT: error[FIS402] fissile.alloc_storage: its capacity is an index, in bytes, not i64
// IRDL: error: expected 'index' but got 'i64'
func.func @capacity(%n: i64) {
  %s = "fissile.alloc_storage"(%n) : (i64) -> !fissile.storage
  return
}

// -----

// OPT: error[FIS402] fissile.alloc_tensor: its first operand is !fissile.storage, not index
// IRDL: error: expected base type 'fissile.storage' but got 'builtin.index'
func.func @no_storage(%n: index) {
  %t = "fissile.alloc_tensor"(%n, %n) : (index, index) -> tensor<4xf32>
  return
}

// -----

// OPT: error[FIS402] fissile.kill: its operand is !fissile.storage or a ranked tensor, not i32
// IRDL: error: 'i32' does not satisfy the constraint
func.func @kill_a_number(%n: i32) {
  "fissile.kill"(%n) : (i32) -> ()
  return
}

// -----

// OPT: error[FIS402] fissile.kill: it is no branch: it takes no successor
// IRDL: error: successors in non-terminator
func.func @kill_that_branches(%t: tensor<4xf32>) {
  "fissile.kill"(%t) [^next] : (tensor<4xf32>) -> ()
^next:
  return
}

// -----

// OPT: error[FIS402] fissile.kil: the dialect has no such op; did you mean 'fissile.kill'?
// IRDL: error: unregistered operation 'fissile.kil'
func.func @misspelled(%t: tensor<4xf32>) {
  "fissile.kil"(%t) : (tensor<4xf32>) -> ()
  return
}

// -----

// OPT: error[FIS402] fissile.group: it takes 1 region, not 2
// IRDL: error: 'fissile.group' op unexpected number of regions: expected 1 but got 2
func.func @two_regions(%t: tensor<4xf32>) {
  %0 = "fissile.group"() ({
    flow.return %t : tensor<4xf32>
  }, {
    flow.return %t : tensor<4xf32>
  }) : () -> tensor<4xf32>
  return
}

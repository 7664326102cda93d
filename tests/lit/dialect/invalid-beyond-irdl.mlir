// Rules that IRDL cannot express: iree-opt takes this file, fissile-opt names every mistake.
// RUN: iree-opt --irdl-file=%irdl --split-input-file %s -o /dev/null
// RUN: not fissile-opt --split-input-file %s 2>&1 | FileCheck %s

// CHECK: error[FIS402] fissile.group: its body yields (tensor<4xf32>), its results are (tensor<8xf32>)
func.func @yielded_type(%t: tensor<4xf32>) {
  %0 = "fissile.group"() ({
    flow.return %t : tensor<4xf32>
  }) : () -> tensor<8xf32>
  return
}

// -----

// CHECK: error[FIS402] fissile.boundary: a boundary inside a group contradicts it
func.func @boundary_in_group(%t: tensor<4xf32>) {
  %0 = "fissile.group"() ({
    %1 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<4xf32>
    flow.return %1 : tensor<4xf32>
  }) : () -> tensor<4xf32>
  return
}

// -----

// CHECK: error[FIS402] fissile.alloc_tensor: tensor<?x?xf32> has 2 dynamic dimensions, and 1 size given
func.func @sizes(%s: !fissile.storage, %n: index) {
  %t = "fissile.alloc_tensor"(%s, %n, %n) : (!fissile.storage, index, index) -> tensor<?x?xf32>
  return
}

// -----

// Two mistakes, two findings, one run.
// CHECK: error[FIS402] func.func: fissile.budget is a positive number of bytes, not -1
// CHECK: error[FIS402] fissile.require: it needs a sentence
func.func @budget(%c: i1) attributes {fissile.budget = -1 : i64} {
  "fissile.require"(%c) {message = ""} : (i1) -> ()
  return
}

// -----

// CHECK: error[FIS402] func.func: fissile.budget is a number of bytes, written N : i64, not "16 KiB"
func.func @budget_text() attributes {fissile.budget = "16 KiB"} {
  return
}

// -----

// CHECK: error[FIS402] fissile.group: its body ends with flow.return, not with vector.yield
func.func @terminator(%t: tensor<4xf32>) {
  %0 = "fissile.group"() ({
    vector.yield %t : tensor<4xf32>
  }) : () -> tensor<4xf32>
  return
}

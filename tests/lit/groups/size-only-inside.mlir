// A result whose size is computed from the group's own values cannot be launched: both groups are reported in one run.
// RUN: not fissile-opt %s --fissile-lower-groups 2>&1 | FileCheck %s

// CHECK: error[FIS405] the size of a group's result depends on tensor.extract inside the group
// CHECK: error[FIS405] the size of a group's result depends on tensor.extract inside the group
func.func @f(%a: tensor<4xindex>) -> tensor<?xf32> {
  %0 = "fissile.group"() ({
    %c0 = arith.constant 0 : index
    %n = tensor.extract %a[%c0] : tensor<4xindex>
    %e = tensor.empty(%n) : tensor<?xf32>
    flow.return %e : tensor<?xf32>
  }) : () -> tensor<?xf32>
  %1 = "fissile.group"() ({
    %c1 = arith.constant 1 : index
    %n = tensor.extract %a[%c1] : tensor<4xindex>
    %e = tensor.empty(%n) : tensor<?xf32>
    flow.return %e : tensor<?xf32>
  }) : () -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

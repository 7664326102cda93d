// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-rename-torch-ops)' | FileCheck %s

// CHECK-LABEL: @python_and
// CHECK-NOT: __and__
// CHECK: torch.aten.bitwise_and.Tensor %arg0, %arg1
func.func @python_and(%a: !torch.vtensor<[4],i1>, %b: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %0 = torch.aten.__and__.Tensor %a, %b : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}

// An op that IREE lowers keeps its name.
// CHECK-LABEL: @left_alone
// CHECK: torch.aten.bitwise_or.Tensor
func.func @left_alone(%a: !torch.vtensor<[4],i1>, %b: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %0 = torch.aten.bitwise_or.Tensor %a, %b : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}

// What an exported `torch.tensor([...])` ends in.
// CHECK-LABEL: @in_place
// CHECK: torch.aten.detach %arg0
func.func @in_place(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.operator "torch.aten.detach_"(%a) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

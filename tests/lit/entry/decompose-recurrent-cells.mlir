// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-recurrent-cells)' | FileCheck %s

// CHECK-LABEL: @step
// CHECK-NOT: aten.rnn_tanh_cell
// CHECK-COUNT-2: torch.aten.linear
// CHECK: torch.aten.add.Tensor
// CHECK: torch.aten.tanh
func.func @step(%x: !torch.vtensor<[2,3],f32>, %h: !torch.vtensor<[2,4],f32>, %w: !torch.vtensor<[4,3],f32>, %u: !torch.vtensor<[4,4],f32>)
    -> !torch.vtensor<[2,4],f32> {
  %none = torch.constant.none
  %0 = torch.operator "torch.aten.rnn_tanh_cell"(%x, %h, %w, %u, %none, %none)
      : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,4],f32>, !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,4],f32>, !torch.none, !torch.none)
      -> !torch.vtensor<[2,4],f32>
  return %0 : !torch.vtensor<[2,4],f32>
}

// Weights of another size are left to whoever reports them.
// CHECK-LABEL: @no_such_size
// CHECK: torch.operator "torch.aten.rnn_tanh_cell"
func.func @no_such_size(%x: !torch.vtensor<[2,3],f32>, %h: !torch.vtensor<[2,4],f32>, %w: !torch.vtensor<[5,3],f32>, %u: !torch.vtensor<[5,4],f32>)
    -> !torch.vtensor<[2,4],f32> {
  %none = torch.constant.none
  %0 = torch.operator "torch.aten.rnn_tanh_cell"(%x, %h, %w, %u, %none, %none)
      : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,4],f32>, !torch.vtensor<[5,3],f32>, !torch.vtensor<[5,4],f32>, !torch.none, !torch.none)
      -> !torch.vtensor<[2,4],f32>
  return %0 : !torch.vtensor<[2,4],f32>
}

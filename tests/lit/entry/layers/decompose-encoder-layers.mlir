// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-encoder-layers)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @layer
// CHECK-NOT: _transformer_encoder_layer_fwd
// CHECK: torch.aten.linear {{.*}} -> !torch.vtensor<[?,?,12],f32>
// CHECK: torch.aten.scaled_dot_product_attention {{.*}} -> !torch.vtensor<[?,2,?,2],f32>
// CHECK: torch.aten.layer_norm
// CHECK: torch.aten.relu
// CHECK: torch.aten.layer_norm
func.func @layer(%x: !torch.vtensor<[?,?,4],f32>, %w0: !torch.vtensor<[12,4],f32>, %w1: !torch.vtensor<[12],f32>, %w2: !torch.vtensor<[4,4],f32>, %w3: !torch.vtensor<[4],f32>, %w4: !torch.vtensor<[4],f32>, %w5: !torch.vtensor<[4],f32>, %w6: !torch.vtensor<[4],f32>, %w7: !torch.vtensor<[4],f32>, %w8: !torch.vtensor<[6,4],f32>, %w9: !torch.vtensor<[6],f32>, %w10: !torch.vtensor<[4,6],f32>, %w11: !torch.vtensor<[4],f32>) -> !torch.vtensor<[?,?,4],f32> {
  %none = torch.constant.none
  %width = torch.constant.int 4
  %heads = torch.constant.int 2
  %gelu = torch.constant.bool false
  %first = torch.constant.bool false
  %eps = torch.constant.float 1.0e-05
  %type = torch.constant.int 0
  %r = torch.operator "torch.aten._transformer_encoder_layer_fwd"(%x, %width, %heads, %w0, %w1, %w2, %w3, %gelu, %first, %eps, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11, %none, %none)
      : (!torch.vtensor<[?,?,4],f32>, !torch.int, !torch.int, !torch.vtensor<[12,4],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4],f32>, !torch.bool, !torch.bool, !torch.float, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[6,4],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[4],f32>, !torch.none, !torch.none) -> !torch.vtensor<[?,?,4],f32>
  return %r : !torch.vtensor<[?,?,4],f32>
}

// CHECK-LABEL: @norm_first
// CHECK: torch.aten.layer_norm
// CHECK: torch.aten.scaled_dot_product_attention
// CHECK: torch.aten.layer_norm
// CHECK: torch.aten.gelu
// CHECK-NOT: torch.aten.layer_norm
// CHECK: return
func.func @norm_first(%x: !torch.vtensor<[?,?,4],f32>, %w0: !torch.vtensor<[12,4],f32>, %w1: !torch.vtensor<[12],f32>, %w2: !torch.vtensor<[4,4],f32>, %w3: !torch.vtensor<[4],f32>, %w4: !torch.vtensor<[4],f32>, %w5: !torch.vtensor<[4],f32>, %w6: !torch.vtensor<[4],f32>, %w7: !torch.vtensor<[4],f32>, %w8: !torch.vtensor<[6,4],f32>, %w9: !torch.vtensor<[6],f32>, %w10: !torch.vtensor<[4,6],f32>, %w11: !torch.vtensor<[4],f32>) -> !torch.vtensor<[?,?,4],f32> {
  %none = torch.constant.none
  %width = torch.constant.int 4
  %heads = torch.constant.int 2
  %gelu = torch.constant.bool true
  %first = torch.constant.bool true
  %eps = torch.constant.float 1.0e-05
  %type = torch.constant.int 0
  %r = torch.operator "torch.aten._transformer_encoder_layer_fwd"(%x, %width, %heads, %w0, %w1, %w2, %w3, %gelu, %first, %eps, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11, %none, %none)
      : (!torch.vtensor<[?,?,4],f32>, !torch.int, !torch.int, !torch.vtensor<[12,4],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4],f32>, !torch.bool, !torch.bool, !torch.float, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[6,4],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[4],f32>, !torch.none, !torch.none) -> !torch.vtensor<[?,?,4],f32>
  return %r : !torch.vtensor<[?,?,4],f32>
}

// CHECK-LABEL: @padded
// CHECK-NOT: scaled_dot_product_attention
// CHECK: torch.aten.where.ScalarSelf
// CHECK: torch.aten.softmax.int {{.*}} -> !torch.vtensor<[?,2,?,?],f32>
func.func @padded(%x: !torch.vtensor<[?,?,4],f32>, %w0: !torch.vtensor<[12,4],f32>, %w1: !torch.vtensor<[12],f32>, %w2: !torch.vtensor<[4,4],f32>, %w3: !torch.vtensor<[4],f32>, %w4: !torch.vtensor<[4],f32>, %w5: !torch.vtensor<[4],f32>, %w6: !torch.vtensor<[4],f32>, %w7: !torch.vtensor<[4],f32>, %w8: !torch.vtensor<[6,4],f32>, %w9: !torch.vtensor<[6],f32>, %w10: !torch.vtensor<[4,6],f32>, %w11: !torch.vtensor<[4],f32>, %mask: !torch.vtensor<[?,?],f32>) -> !torch.vtensor<[?,?,4],f32> {
  %none = torch.constant.none
  %width = torch.constant.int 4
  %heads = torch.constant.int 2
  %gelu = torch.constant.bool false
  %first = torch.constant.bool false
  %eps = torch.constant.float 1.0e-05
  %type = torch.constant.int 1
  %r = torch.operator "torch.aten._transformer_encoder_layer_fwd"(%x, %width, %heads, %w0, %w1, %w2, %w3, %gelu, %first, %eps, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11, %mask, %type)
      : (!torch.vtensor<[?,?,4],f32>, !torch.int, !torch.int, !torch.vtensor<[12,4],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4],f32>, !torch.bool, !torch.bool, !torch.float, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[6,4],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[?,?],f32>, !torch.int) -> !torch.vtensor<[?,?,4],f32>
  return %r : !torch.vtensor<[?,?,4],f32>
}

// CHECK-LABEL: @heads_do_not_fit
// CHECK: torch.operator "torch.aten._transformer_encoder_layer_fwd"
func.func @heads_do_not_fit(%x: !torch.vtensor<[?,?,4],f32>, %w0: !torch.vtensor<[12,4],f32>, %w1: !torch.vtensor<[12],f32>, %w2: !torch.vtensor<[4,4],f32>, %w3: !torch.vtensor<[4],f32>, %w4: !torch.vtensor<[4],f32>, %w5: !torch.vtensor<[4],f32>, %w6: !torch.vtensor<[4],f32>, %w7: !torch.vtensor<[4],f32>, %w8: !torch.vtensor<[6,4],f32>, %w9: !torch.vtensor<[6],f32>, %w10: !torch.vtensor<[4,6],f32>, %w11: !torch.vtensor<[4],f32>) -> !torch.vtensor<[?,?,4],f32> {
  %none = torch.constant.none
  %width = torch.constant.int 4
  %heads = torch.constant.int 3
  %gelu = torch.constant.bool false
  %first = torch.constant.bool false
  %eps = torch.constant.float 1.0e-05
  %type = torch.constant.int 0
  %r = torch.operator "torch.aten._transformer_encoder_layer_fwd"(%x, %width, %heads, %w0, %w1, %w2, %w3, %gelu, %first, %eps, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11, %none, %none)
      : (!torch.vtensor<[?,?,4],f32>, !torch.int, !torch.int, !torch.vtensor<[12,4],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4],f32>, !torch.bool, !torch.bool, !torch.float, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[6,4],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[4],f32>, !torch.none, !torch.none) -> !torch.vtensor<[?,?,4],f32>
  return %r : !torch.vtensor<[?,?,4],f32>
}

// CHECK-LABEL: @mask_of_no_such_size
// CHECK: torch.operator "torch.aten._transformer_encoder_layer_fwd"
func.func @mask_of_no_such_size(%x: !torch.vtensor<[?,?,4],f32>, %w0: !torch.vtensor<[12,4],f32>, %w1: !torch.vtensor<[12],f32>, %w2: !torch.vtensor<[4,4],f32>, %w3: !torch.vtensor<[4],f32>, %w4: !torch.vtensor<[4],f32>, %w5: !torch.vtensor<[4],f32>, %w6: !torch.vtensor<[4],f32>, %w7: !torch.vtensor<[4],f32>, %w8: !torch.vtensor<[6,4],f32>, %w9: !torch.vtensor<[6],f32>, %w10: !torch.vtensor<[4,6],f32>, %w11: !torch.vtensor<[4],f32>, %mask: !torch.vtensor<[3,3],f32>) -> !torch.vtensor<[?,?,4],f32> {
  %none = torch.constant.none
  %width = torch.constant.int 4
  %heads = torch.constant.int 2
  %gelu = torch.constant.bool false
  %first = torch.constant.bool false
  %eps = torch.constant.float 1.0e-05
  %type = torch.constant.int 1
  %r = torch.operator "torch.aten._transformer_encoder_layer_fwd"(%x, %width, %heads, %w0, %w1, %w2, %w3, %gelu, %first, %eps, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11, %mask, %type)
      : (!torch.vtensor<[?,?,4],f32>, !torch.int, !torch.int, !torch.vtensor<[12,4],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4],f32>, !torch.bool, !torch.bool, !torch.float, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[6,4],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[3,3],f32>, !torch.int) -> !torch.vtensor<[?,?,4],f32>
  return %r : !torch.vtensor<[?,?,4],f32>
}

// CHECK-LABEL: @attention
// CHECK-NOT: _native_multi_head_attention
// CHECK: torch.aten.softmax.int
// CHECK: torch.aten.mean.dim {{.*}} -> !torch.vtensor<[2,3,3],f32>
func.func @attention(%x: !torch.vtensor<[2,3,4],f32>, %w0: !torch.vtensor<[12,4],f32>, %w1: !torch.vtensor<[12],f32>, %w2: !torch.vtensor<[4,4],f32>, %w3: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,3,3],f32>) {
  %none = torch.constant.none
  %width = torch.constant.int 4
  %heads = torch.constant.int 2
  %true = torch.constant.bool true
  %r:2 = torch.operator "torch.aten._native_multi_head_attention"(%x, %x, %x, %width, %heads, %w0, %w1, %w2, %w3, %none, %true, %true, %none)
      : (!torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,3,4],f32>, !torch.int, !torch.int, !torch.vtensor<[12,4],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4],f32>, !torch.none, !torch.bool, !torch.bool, !torch.none)
      -> (!torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,3,3],f32>)
  return %r#0, %r#1 : !torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,3,3],f32>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-recurrent-layers)' 2>/dev/null | FileCheck %s

// One product of the input for both steps, and one of the hidden state for each.
// CHECK-LABEL: @lstm
// CHECK-NOT: aten.lstm.input
// CHECK: torch.aten.linear {{.*}} -> !torch.vtensor<[?,2,16],f32>
// CHECK-COUNT-2: torch.aten.linear {{.*}} -> !torch.vtensor<[?,16],f32>
// CHECK: torch.aten.cat {{.*}} -> !torch.vtensor<[?,2,4],f32>
// CHECK: torch.aten.cat {{.*}} -> !torch.vtensor<[1,?,4],f32>
func.func @lstm(%x: !torch.vtensor<[?,2,3],f32>, %s0: !torch.vtensor<[1,?,4],f32>, %s1: !torch.vtensor<[1,?,4],f32>, %p0: !torch.vtensor<[16,3],f32>, %p1: !torch.vtensor<[16,4],f32>, %p2: !torch.vtensor<[16],f32>, %p3: !torch.vtensor<[16],f32>) -> (!torch.vtensor<[?,2,4],f32>, !torch.vtensor<[1,?,4],f32>, !torch.vtensor<[1,?,4],f32>) {
  %s = torch.prim.ListConstruct %s0, %s1 : (!torch.vtensor<[1,?,4],f32>, !torch.vtensor<[1,?,4],f32>) -> !torch.list<vtensor>
  %p = torch.prim.ListConstruct %p0, %p1, %p2, %p3 : (!torch.vtensor<[16,3],f32>, !torch.vtensor<[16,4],f32>, !torch.vtensor<[16],f32>, !torch.vtensor<[16],f32>) -> !torch.list<vtensor>
  %bias = torch.constant.bool true
  %layers = torch.constant.int 1
  %dropout = torch.constant.float 0.0
  %train = torch.constant.bool false
  %both = torch.constant.bool false
  %first = torch.constant.bool true
  %r:3 = torch.operator "torch.aten.lstm.input"(%x, %s, %p, %bias, %layers, %dropout, %train, %both, %first)
      : (!torch.vtensor<[?,2,3],f32>, !torch.list<vtensor>, !torch.list<vtensor>, !torch.bool, !torch.int, !torch.float, !torch.bool, !torch.bool, !torch.bool)
      -> (!torch.vtensor<[?,2,4],f32>, !torch.vtensor<[1,?,4],f32>, !torch.vtensor<[1,?,4],f32>)
  return %r#0, %r#1, %r#2 : !torch.vtensor<[?,2,4],f32>, !torch.vtensor<[1,?,4],f32>, !torch.vtensor<[1,?,4],f32>
}

// The second direction takes the last step first.
// CHECK-LABEL: @backwards
// CHECK-NOT: aten.rnn_relu.input
// CHECK: torch.aten.cat {{.*}} -> !torch.vtensor<[2,?,8],f32>
// CHECK: torch.aten.cat {{.*}} -> !torch.vtensor<[2,?,4],f32>
func.func @backwards(%x: !torch.vtensor<[2,?,3],f32>, %s0: !torch.vtensor<[2,?,4],f32>, %p0: !torch.vtensor<[4,3],f32>, %p1: !torch.vtensor<[4,4],f32>, %p2: !torch.vtensor<[4,3],f32>, %p3: !torch.vtensor<[4,4],f32>) -> (!torch.vtensor<[2,?,8],f32>, !torch.vtensor<[2,?,4],f32>) {
  %p = torch.prim.ListConstruct %p0, %p1, %p2, %p3 : (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,4],f32>) -> !torch.list<vtensor>
  %bias = torch.constant.bool false
  %layers = torch.constant.int 1
  %dropout = torch.constant.float 0.0
  %train = torch.constant.bool false
  %both = torch.constant.bool true
  %first = torch.constant.bool false
  %r:2 = torch.operator "torch.aten.rnn_relu.input"(%x, %s0, %p, %bias, %layers, %dropout, %train, %both, %first)
      : (!torch.vtensor<[2,?,3],f32>, !torch.vtensor<[2,?,4],f32>, !torch.list<vtensor>, !torch.bool, !torch.int, !torch.float, !torch.bool, !torch.bool, !torch.bool)
      -> (!torch.vtensor<[2,?,8],f32>, !torch.vtensor<[2,?,4],f32>)
  return %r#0, %r#1 : !torch.vtensor<[2,?,8],f32>, !torch.vtensor<[2,?,4],f32>
}

// An unknown number of steps is a loop.
// CHECK-LABEL: @unknown_length
// CHECK-NOT: aten.lstm.input
// CHECK: torch.prim.Loop
// CHECK: torch.aten.linear
// CHECK-NOT: torch.aten.linear
// CHECK: torch.aten.slice_scatter
// CHECK: return
func.func @unknown_length(%x: !torch.vtensor<[?,?,3],f32>, %s0: !torch.vtensor<[1,?,4],f32>, %s1: !torch.vtensor<[1,?,4],f32>, %p0: !torch.vtensor<[16,3],f32>, %p1: !torch.vtensor<[16,4],f32>, %p2: !torch.vtensor<[16],f32>, %p3: !torch.vtensor<[16],f32>) -> (!torch.vtensor<[?,?,4],f32>, !torch.vtensor<[1,?,4],f32>, !torch.vtensor<[1,?,4],f32>) {
  %s = torch.prim.ListConstruct %s0, %s1 : (!torch.vtensor<[1,?,4],f32>, !torch.vtensor<[1,?,4],f32>) -> !torch.list<vtensor>
  %p = torch.prim.ListConstruct %p0, %p1, %p2, %p3 : (!torch.vtensor<[16,3],f32>, !torch.vtensor<[16,4],f32>, !torch.vtensor<[16],f32>, !torch.vtensor<[16],f32>) -> !torch.list<vtensor>
  %bias = torch.constant.bool true
  %layers = torch.constant.int 1
  %dropout = torch.constant.float 0.0
  %train = torch.constant.bool false
  %both = torch.constant.bool false
  %first = torch.constant.bool true
  %r:3 = torch.operator "torch.aten.lstm.input"(%x, %s, %p, %bias, %layers, %dropout, %train, %both, %first)
      : (!torch.vtensor<[?,?,3],f32>, !torch.list<vtensor>, !torch.list<vtensor>, !torch.bool, !torch.int, !torch.float, !torch.bool, !torch.bool, !torch.bool)
      -> (!torch.vtensor<[?,?,4],f32>, !torch.vtensor<[1,?,4],f32>, !torch.vtensor<[1,?,4],f32>)
  return %r#0, %r#1, %r#2 : !torch.vtensor<[?,?,4],f32>, !torch.vtensor<[1,?,4],f32>, !torch.vtensor<[1,?,4],f32>
}

// In training values are dropped between layers.
// CHECK-LABEL: @training
// CHECK: torch.operator "torch.aten.gru.input"
func.func @training(%x: !torch.vtensor<[?,2,3],f32>, %s0: !torch.vtensor<[2,?,4],f32>, %p0: !torch.vtensor<[12,3],f32>, %p1: !torch.vtensor<[12,4],f32>, %p2: !torch.vtensor<[12],f32>, %p3: !torch.vtensor<[12],f32>, %p4: !torch.vtensor<[12,4],f32>, %p5: !torch.vtensor<[12,4],f32>, %p6: !torch.vtensor<[12],f32>, %p7: !torch.vtensor<[12],f32>) -> (!torch.vtensor<[?,2,4],f32>, !torch.vtensor<[2,?,4],f32>) {
  %p = torch.prim.ListConstruct %p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7 : (!torch.vtensor<[12,3],f32>, !torch.vtensor<[12,4],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[12,4],f32>, !torch.vtensor<[12,4],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[12],f32>) -> !torch.list<vtensor>
  %bias = torch.constant.bool true
  %layers = torch.constant.int 2
  %dropout = torch.constant.float 0.5
  %train = torch.constant.bool true
  %both = torch.constant.bool false
  %first = torch.constant.bool true
  %r:2 = torch.operator "torch.aten.gru.input"(%x, %s0, %p, %bias, %layers, %dropout, %train, %both, %first)
      : (!torch.vtensor<[?,2,3],f32>, !torch.vtensor<[2,?,4],f32>, !torch.list<vtensor>, !torch.bool, !torch.int, !torch.float, !torch.bool, !torch.bool, !torch.bool)
      -> (!torch.vtensor<[?,2,4],f32>, !torch.vtensor<[2,?,4],f32>)
  return %r#0, %r#1 : !torch.vtensor<[?,2,4],f32>, !torch.vtensor<[2,?,4],f32>
}

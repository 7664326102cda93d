// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-infer-sizes)' 2>/dev/null | FileCheck %s

// Dimension 1 is split: 12 / 4 is 3.
// CHECK-LABEL: @constant
// CHECK:         %[[THREE:.*]] = torch.constant.int 3
// CHECK:         torch.prim.ListConstruct %{{.*}}, %[[THREE]], %{{.*}}
// CHECK:         torch.aten.view {{.*}} -> !torch.vtensor<[?,3,4],f32>
// CHECK-NOT:     floordiv
func.func @constant(%x: !torch.vtensor<[?,12],f32>) -> !torch.vtensor<[?,?,4],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %minus = torch.constant.int -1
  %zero = torch.constant.int 0
  %four = torch.constant.int 4
  %rows = torch.aten.size.int %x, %zero : !torch.vtensor<[?,12],f32>, !torch.int -> !torch.int
  %sizes = torch.prim.ListConstruct %rows, %minus, %four : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.view %x, %sizes : !torch.vtensor<[?,12],f32>, !torch.list<int> -> !torch.vtensor<[?,?,4],f32>
  return %r : !torch.vtensor<[?,?,4],f32>
}

// A size of another tensor divides.
// CHECK-LABEL: @divided
// CHECK:         torch.prim.max.int
// CHECK:         %[[WHOLE:.*]] = torch.aten.size.int %arg0
// CHECK:         %[[FOUND:.*]] = torch.aten.floordiv.int %[[WHOLE]]
// CHECK:         torch.prim.ListConstruct %arg1, %[[FOUND]], %{{.*}}
func.func @divided(%x: !torch.vtensor<[?,12],f32>, %rows: !torch.int) -> !torch.vtensor<[?,?,12],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %minus = torch.constant.int -1
  %twelve = torch.constant.int 12
  %sizes = torch.prim.ListConstruct %rows, %minus, %twelve : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.view %x, %sizes : !torch.vtensor<[?,12],f32>, !torch.list<int> -> !torch.vtensor<[?,?,12],f32>
  return %r : !torch.vtensor<[?,?,12],f32>
}

// CHECK-LABEL: @unflattened
// CHECK:         torch.aten.floordiv.int
// CHECK:         torch.aten.unflatten.int {{.*}} -> !torch.vtensor<[?,3,5],f32>
func.func @unflattened(%x: !torch.vtensor<[?,5],f32>) -> !torch.vtensor<[?,?,5],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %minus = torch.constant.int -1
  %zero = torch.constant.int 0
  %three = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %minus, %three : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.unflatten.int %x, %zero, %sizes : !torch.vtensor<[?,5],f32>, !torch.int, !torch.list<int> -> !torch.vtensor<[?,?,5],f32>
  return %r : !torch.vtensor<[?,?,5],f32>
}

// Here it is IREE that would write -1 for the quotient; with the constant in the type it infers it.
// CHECK-LABEL: @typed
// CHECK:         torch.aten.view {{.*}} -> !torch.vtensor<[?,?,4],f32>
// CHECK-NEXT:    torch.tensor_static_info_cast {{.*}} to !torch.vtensor<[?,?,?],f32>
func.func @typed(%x: !torch.vtensor<[?,?],f32>) -> !torch.vtensor<[?,?,?],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %four = torch.constant.int 4
  %rows = torch.aten.size.int %x, %zero : !torch.vtensor<[?,?],f32>, !torch.int -> !torch.int
  %columns = torch.aten.size.int %x, %one : !torch.vtensor<[?,?],f32>, !torch.int -> !torch.int
  %fourth = torch.aten.floordiv.int %columns, %four : !torch.int, !torch.int -> !torch.int
  %sizes = torch.prim.ListConstruct %rows, %fourth, %four : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.view %x, %sizes : !torch.vtensor<[?,?],f32>, !torch.list<int> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// One unknown size, which IREE infers, and a list that it reads right.
// CHECK-LABEL: @silent
// CHECK-COUNT-2: torch.constant.int -1
// CHECK-NOT:     floordiv
func.func @silent(%x: !torch.vtensor<[?,12],f32>) -> (!torch.vtensor<[?,3,4],f32>, !torch.vtensor<[?,?],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  %minus = torch.constant.int -1
  %zero = torch.constant.int 0
  %three = torch.constant.int 3
  %four = torch.constant.int 4
  %sizes = torch.prim.ListConstruct %minus, %three, %four : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.view %x, %sizes : !torch.vtensor<[?,12],f32>, !torch.list<int> -> !torch.vtensor<[?,3,4],f32>
  %last = torch.constant.int -1
  %rows = torch.aten.size.int %x, %zero : !torch.vtensor<[?,12],f32>, !torch.int -> !torch.int
  %both = torch.prim.ListConstruct %rows, %last : (!torch.int, !torch.int) -> !torch.list<int>
  %s = torch.aten.view %x, %both : !torch.vtensor<[?,12],f32>, !torch.list<int> -> !torch.vtensor<[?,?],f32>
  return %r, %s : !torch.vtensor<[?,3,4],f32>, !torch.vtensor<[?,?],f32>
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-sort-topk)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @any_order
// CHECK: %[[SORTED:.*]] = torch.constant.bool true
// CHECK: torch.aten.topk %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SORTED]]
func.func @any_order(%x: !torch.vtensor<[8],f32>, %largest: !torch.bool) -> !torch.vtensor<[2],f32> {
  %k = torch.constant.int 2
  %d = torch.constant.int 0
  %sorted = torch.constant.bool false
  %v, %i = torch.aten.topk %x, %k, %d, %largest, %sorted : !torch.vtensor<[8],f32>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>
  return %v : !torch.vtensor<[2],f32>
}

// CHECK-LABEL: @unknown
// CHECK-NOT: constant.bool true
// CHECK: return
func.func @unknown(%x: !torch.vtensor<[8],f32>, %sorted: !torch.bool) -> !torch.vtensor<[2],f32> {
  %k = torch.constant.int 2
  %d = torch.constant.int 0
  %v, %i = torch.aten.topk %x, %k, %d, %sorted, %sorted : !torch.vtensor<[8],f32>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>
  return %v : !torch.vtensor<[2],f32>
}

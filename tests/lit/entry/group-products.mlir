// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-group-products)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @experts
// CHECK: torch.aten.where.ScalarOther {{.*}} -> !torch.vtensor<[7,4,3],f32>
// CHECK: torch.aten.mm {{.*}} : !torch.vtensor<[7,12],f32>, !torch.vtensor<[12,5],f32>
// CHECK-NOT: grouped_mm
func.func @experts(%x: !torch.vtensor<[7,3],f32>, %w: !torch.vtensor<[4,3,5],f32>, %e: !torch.vtensor<[4],si32>) -> !torch.vtensor<[7,5],f32> {
  %r = torch.operator "torch.transformers.grouped_mm_fallback"(%x, %w, %e) : (!torch.vtensor<[7,3],f32>, !torch.vtensor<[4,3,5],f32>, !torch.vtensor<[4],si32>) -> !torch.vtensor<[7,5],f32>
  return %r : !torch.vtensor<[7,5],f32>
}

// The positions of an unknown number of rows.
// CHECK-LABEL: @any_rows
// CHECK: %[[ROWS:.*]] = torch.aten.size.int %{{.*}}, %int0
// CHECK: torch.aten.arange %[[ROWS]]
// CHECK: torch.aten.mm {{.*}} : !torch.vtensor<[?,12],f32>, !torch.vtensor<[12,5],f32>
// CHECK-NOT: grouped_mm
func.func @any_rows(%x: !torch.vtensor<[?,3],f32>, %w: !torch.vtensor<[4,3,5],f32>, %e: !torch.vtensor<[4],si32>) -> !torch.vtensor<[?,5],f32> {
  %r = torch.operator "torch.transformers.grouped_mm_fallback"(%x, %w, %e) : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[4,3,5],f32>, !torch.vtensor<[4],si32>) -> !torch.vtensor<[?,5],f32>
  return %r : !torch.vtensor<[?,5],f32>
}

// CHECK-LABEL: @any_groups
// CHECK: grouped_mm_fallback
func.func @any_groups(%x: !torch.vtensor<[7,3],f32>, %w: !torch.vtensor<[?,3,5],f32>, %e: !torch.vtensor<[?],si32>) -> !torch.vtensor<[7,5],f32> {
  %r = torch.operator "torch.transformers.grouped_mm_fallback"(%x, %w, %e) : (!torch.vtensor<[7,3],f32>, !torch.vtensor<[?,3,5],f32>, !torch.vtensor<[?],si32>) -> !torch.vtensor<[7,5],f32>
  return %r : !torch.vtensor<[7,5],f32>
}

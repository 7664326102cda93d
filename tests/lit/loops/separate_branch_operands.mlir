// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-separate-branch-operands)' | FileCheck %s

vm.module @module {
  // CHECK-LABEL: vm.func private @twice
  // CHECK-SAME:    (%[[A:.*]]: !vm.ref<?>
  vm.func private @twice(%a: !vm.ref<?>, %n: i32) {
    // CHECK:       %[[THERE:.*]] = vm.cmp.nz.ref %[[A]] : !vm.ref<?>
    // CHECK:       %[[NULL:.*]] = vm.const.ref.zero : !vm.ref<?>
    // CHECK:       %[[COPY:.*]] = vm.select.ref %[[THERE]], %[[A]], %[[NULL]] : !vm.ref<?>
    // CHECK:       vm.br ^bb1(%[[A]], %[[COPY]], %{{.*}} : !vm.ref<?>, !vm.ref<?>, i32)
    vm.br ^bb1(%a, %a, %n : !vm.ref<?>, !vm.ref<?>, i32)
  ^bb1(%b: !vm.ref<?>, %c: !vm.ref<?>, %m: i32):
    // CHECK:       vm.cond_br %{{.*}}, ^bb1(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}), ^bb2
    vm.cond_br %m, ^bb1(%c, %b, %m : !vm.ref<?>, !vm.ref<?>, i32), ^bb2
  ^bb2:
    vm.return
  }

  // A reference that the block reads, too.
  // CHECK-LABEL: vm.func private @kept
  // CHECK-SAME:    (%[[A:.*]]: !vm.ref<?>
  // CHECK:         %[[COPY:.*]] = vm.select.ref %{{.*}}, %[[A]], %{{.*}} : !vm.ref<?>
  // CHECK:         vm.br ^bb1(%[[COPY]] : !vm.ref<?>)
  vm.func private @kept(%a: !vm.ref<?>) -> i32 {
    vm.br ^bb1(%a : !vm.ref<?>)
  ^bb1(%b: !vm.ref<?>):
    %n = vm.cmp.nz.ref %a : !vm.ref<?>
    vm.return %n : i32
  }

  // An integer twice, an empty reference twice, one reference for each successor.
  // CHECK-LABEL: vm.func private @silent
  // CHECK-NOT:     vm.select.ref
  vm.func private @silent(%a: !vm.ref<?>, %n: i32) {
    %null = vm.const.ref.zero : !vm.ref<?>
    vm.br ^bb1(%null, %null, %n, %n : !vm.ref<?>, !vm.ref<?>, i32, i32)
  ^bb1(%b: !vm.ref<?>, %c: !vm.ref<?>, %m: i32, %o: i32):
    vm.cond_br %m, ^bb2(%b : !vm.ref<?>), ^bb3(%b : !vm.ref<?>)
  ^bb2(%d: !vm.ref<?>):
    vm.return
  ^bb3(%e: !vm.ref<?>):
    vm.return
  }

  // Numbers of 32 and of 64 bits for one block: all are passed with 64.
  // CHECK-LABEL: vm.func private @two_widths
  // CHECK-SAME:    (%[[X:.*]]: f32, %[[N:.*]]: i32)
  // CHECK:         %[[BITS:.*]] = vm.bitcast.f32.i32 %[[X]]
  // CHECK:         %[[WIDE:.*]] = vm.ext.i32.i64.u %[[BITS]]
  // CHECK:         vm.br ^bb1(%{{.*}}, %[[WIDE]] : i64, i64)
  // CHECK:       ^bb1(%{{.*}}: i64, %[[ARGUMENT:.*]]: i64):
  // CHECK:         %[[HALF:.*]] = vm.trunc.i64.i32 %[[ARGUMENT]]
  // CHECK:         vm.bitcast.i32.f32 %[[HALF]]
  vm.func private @two_widths(%x: f32, %n: i32) -> f32 {
    %zero = vm.const.i64.zero
    vm.br ^bb1(%zero, %x : i64, f32)
  ^bb1(%i: i64, %y: f32):
    vm.return %y : f32
  }

  // One width.
  // CHECK-LABEL: vm.func private @one_width
  // CHECK-NOT:     vm.ext
  vm.func private @one_width(%x: f32, %n: i32) -> f32 {
    vm.br ^bb1(%n, %x : i32, f32)
  ^bb1(%i: i32, %y: f32):
    vm.return %y : f32
  }
}

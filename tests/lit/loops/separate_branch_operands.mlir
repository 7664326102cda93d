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
}

// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-drop-early-releases)' | FileCheck %s

module attributes {stream.affinity.default = #hal.device.affinity<@device>} {
  util.global private @device = #hal.device.target<"vulkan", [#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">]> : !hal.device

  // A loop passes on a part of a slab first, and then a buffer of its own.
  // CHECK-LABEL: util.func public @part
  // CHECK:         stream.resource.subview
  // CHECK:       ^bb1
  // CHECK-NOT:     stream.resource.dealloca
  // CHECK:         util.return
  util.func public @part(%slab: !stream.resource<transient>, %t: !stream.timepoint, %more: i1) -> !stream.timepoint {
    %c64 = arith.constant 64 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %part = stream.resource.subview %slab[%c64] : !stream.resource<transient>{%c128} -> !stream.resource<transient>{%c16}
    %held = util.optimization_barrier %part : !stream.resource<transient>
    cf.br ^loop(%held, %t : !stream.resource<transient>, !stream.timepoint)
  ^loop(%a: !stream.resource<transient>, %u: !stream.timepoint):
    %own, %made = stream.resource.alloca uninitialized await(%u) => !stream.resource<transient>{%c16} => !stream.timepoint
    cf.cond_br %more, ^loop(%own, %made : !stream.resource<transient>, !stream.timepoint), ^end
  ^end:
    %freed = stream.resource.dealloca origin await(%u) => %a : !stream.resource<transient>{%c16} => !stream.timepoint
    util.return %freed : !stream.timepoint
  }

  // One of two.
  // CHECK-LABEL: util.func public @chosen
  // CHECK-NOT:     stream.resource.dealloca
  // CHECK:         util.return
  util.func public @chosen(%slab: !stream.resource<transient>, %t: !stream.timepoint, %first: i1) -> !stream.timepoint {
    %c64 = arith.constant 64 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %part = stream.resource.subview %slab[%c64] : !stream.resource<transient>{%c128} -> !stream.resource<transient>{%c16}
    %own, %made = stream.resource.alloca uninitialized await(%t) => !stream.resource<transient>{%c16} => !stream.timepoint
    %one = arith.select %first, %part, %own : !stream.resource<transient>
    %freed = stream.resource.dealloca origin await(%made) => %one : !stream.resource<transient>{%c16} => !stream.timepoint
    util.return %freed : !stream.timepoint
  }

  // A whole buffer.
  // CHECK-LABEL: util.func public @silent
  // CHECK:         stream.resource.dealloca
  util.func public @silent(%t: !stream.timepoint) -> !stream.timepoint {
    %c16 = arith.constant 16 : index
    %own, %made = stream.resource.alloca uninitialized await(%t) => !stream.resource<transient>{%c16} => !stream.timepoint
    %freed = stream.resource.dealloca await(%made) => %own : !stream.resource<transient>{%c16} => !stream.timepoint
    util.return %freed : !stream.timepoint
  }
}

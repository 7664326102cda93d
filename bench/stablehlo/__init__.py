"""Random StableHLO functions through fissile, run on a device, and compared with NumPy's results.

    python -m bench.stablehlo --programs 800 --seed 1 --target llvm-cpu|vulkan
        [--results FILE] [--failures FOLDER] [--constants SHARE]

A function is drawn op by op, and every op is evaluated in NumPy as it is drawn (`function`). Eight functions
are one module: `fissile compile` builds it, and iree-run-module runs each function in its own process
(`judging`). If fissile refuses a module, its functions are compiled one by one. Stock IREE is run for every
function that fissile repairs, refuses or gets wrong.

A value carries the largest error that the roundings before it allow, and a result is compared with twice that
bound. A value without rounding errors, which is every integer and many floats, is compared exactly.

Not drawn, because StableHLO leaves the result open, because rounding decides it, or because fissile adds a
run-time check:

* scatter indices outside the tensor: StableHLO skips such updates, fissile asserts that there are none
* repeated indices of a scatter that replaces elements: any of the updates may win
* floats that become infinite or NaN, and conversions to an integer type that cannot hold the value
* operands with rounding errors of ops that jump: floor, ceil, round, sign, compare, sort, remainder, atan2,
  and conversions to integers
* negative zeros as operands of atan2
* division and remainder by zero or by a negative integer, shifts by more than 7 bits
* operands of type i1 for convolutions, scatter, sort, clamp and comparisons
* convolutions of other types than f32, f16, i8 and i32
* dynamic shapes, control flow, complex numbers, f64, 8-bit floats, integers below a byte other than i1
"""

"""Drawn programs with loops and branches through stock IREE and through fissile, run, and compared with NumPy.

    python -m bench.control_flow [--count 200] [--first 0] [--kind plain --kind stateful …] [--target llvm-cpu --target vulkan]

Each is one function of two tensors of 4 integers: scf.for, scf.while and scf.if, nested up to two deep, that carry one to four
tensors, hand them on in any order, test elements of them and insert elements into them. A *stateful* one keeps tensors in
globals, moves parts of tensors and calls functions as well; a *remembering* one loads and stores globals more often; a *dynamic* one has
tensors of dynamic size, an *updating* one scatters into them, sorts them and sums into them, and a *square* one multiplies and transposes tensors of two
dynamic sizes. Each is called three times in one session. Prints a line for each program that one of the compilers does not build or that computes other numbers than NumPy,
and a table. Exit status 1 where fissile is worse than stock or wrong.
"""

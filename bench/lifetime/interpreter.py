"""Runs memref-level functions in Python, with memory that says when it is used wrongly.

A released buffer is poisoned: to read, write, pass on a view of it or release it again raises `Misuse`. What is left alive at the end
and not returned has leaked. Bytes are counted over time: the peak, and the least peak that the same order of ops allows (each buffer
from its allocation to its last access).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.passes.analysis.lifetime.ways_on import branches_of

from .buffers import Buffer, Misuse, NotRun, Run, View

MOST_OPS = 200_000


def call(module: ir.Operation, name: str, arguments: Sequence) -> Run:
    """Calls a function of ``module`` with Python numbers."""
    return _Interpreter(module).run(name, list(arguments))


class _Interpreter:
    def __init__(self, module: ir.Operation) -> None:
        self.functions = {}
        self.globals = {}
        for view in module.regions[0].blocks[0].operations:
            op = view.operation
            if op.name == "func.func":
                self.functions[ir.StringAttr(op.attributes["sym_name"]).value] = op
            elif op.name == "memref.global":
                self.globals[ir.StringAttr(op.attributes["sym_name"]).value] = op
        self.clock = 0
        self.record = Run()
        self.made_globals: dict[str, View] = {}

    def run(self, name: str, arguments: list) -> Run:
        self.record.results = self.function(name, arguments)
        returned = {id(r.buffer) for r in self.record.results if isinstance(r, View)}
        self.record.leaked = [b for b in self.record.buffers if b.alive and b.owned and id(b) not in returned]
        for result in self.record.results:
            if isinstance(result, View):
                self.touch(result)
        self.record.results = [
            [r.buffer.cells[i] for i in r.cells()] if isinstance(r, View) else r for r in self.record.results
        ]
        return self.record

    def function(self, name: str, arguments: list) -> list:
        op = self.functions[name]
        block = op.regions[0].blocks[0]
        return self.blocks(block, dict(zip(block.arguments, arguments, strict=False)))[1]

    def blocks(self, block: ir.Block, env: dict) -> tuple[str, list]:
        """Runs from ``block`` on; returns the name of the op that ends it and the values that it passes on."""
        while True:
            for view in block.operations:
                op = view.operation
                self.clock += 1
                if self.clock > MOST_OPS:
                    raise NotRun("too many ops")
                if op.successors:
                    ways = branches_of(op)
                    if op.name == "cf.cond_br":
                        number = 0 if env[view_of(op).condition] else 1
                    else:
                        number = _case(view_of(op), env) if op.name == "cf.switch" else 0
                    block = self.enter(ways[number].block, list(ways[number].values), env)
                    break
                if op.name in ("func.return", "scf.yield", "scf.condition", "linalg.yield", "flow.return"):
                    return op.name, [env[v] for v in op.operands]
                found = self.op(op, env)
                env.update(zip(op.results, found, strict=False))
            else:
                raise NotRun("a block without an end")

    @staticmethod
    def enter(block: ir.Block, values: list, env: dict) -> ir.Block:
        env.update(zip(list(block.arguments), [env[v] for v in values], strict=False))
        return block

    # Ops

    def op(self, op: ir.Operation, env: dict) -> list:
        name, view = op.name, view_of(op)
        values = [env[v] for v in op.operands]
        if name in _SCALARS:
            if isinstance(values[0], View):
                return [self.elementwise(_SCALARS[name], [self.touch(v) for v in values])]
            return [_SCALARS[name](*values)]
        handler = getattr(self, "op_" + name.replace(".", "_"), None)
        if handler is None:
            raise NotRun(f"the interpreter does not know {name}")
        return handler(op, view, values, env) or []

    def op_cf_assert(self, op, view, values, env):
        if not values[0]:
            raise Misuse(f"the program stops: {view.msg}")

    def op_arith_constant(self, op, view, values, env):
        attribute = op.attributes["value"]
        if isinstance(attribute, ir.BoolAttr):
            return [bool(attribute.value)]
        if isinstance(attribute, ir.DenseElementsAttr):
            return [self.tensor_constant(attribute)]
        return [attribute.value]

    def tensor_constant(self, attribute) -> View:
        shape = tuple(ir.ShapedType(attribute.type).shape)
        count = _count(shape)
        cells = (
            [attribute.get_splat_value().value] * count
            if attribute.is_splat
            else [attribute[i] for i in range(count)]
        )
        return View(self.memory(cells, 0, owned=False), 0, shape, _strides(shape))

    def memory(self, cells: list, size: int, owned: bool) -> Buffer:
        buffer = Buffer(cells, size, self.clock, owned, last=self.clock)
        self.record.buffers.append(buffer)
        return buffer

    def touch(self, view: View) -> View:
        if not view.buffer.alive:
            raise Misuse("used after its release")
        view.buffer.last = self.clock
        return view

    def free(self, buffer: Buffer) -> None:
        if not buffer.alive:
            raise Misuse("released twice")
        if not buffer.owned:
            raise Misuse("what is released was not allocated")
        buffer.alive = False
        buffer.cells[:] = [float("nan")] * len(buffer.cells)
        self.record.freed[id(buffer)] = self.clock

    def op_memref_alloc(self, op, view, values, env):
        return [self.allocate(op.results[0].type, values, owned=True)]

    def op_memref_alloca(self, op, view, values, env):
        return [self.allocate(op.results[0].type, values, owned=False)]

    def allocate(self, kind: ir.Type, sizes: list[int], owned: bool) -> View:
        given, kind = iter(sizes), ir.MemRefType(kind)
        shape = tuple(
            next(given) if kind.is_dynamic_dim(i) else kind.get_dim_size(i) for i in range(kind.rank)
        )
        count = _count(shape)
        if str(kind.element_type) == "i8":  # an arena, of which views of four-byte elements are made
            return View(self.memory([float("nan")] * (count // 4), count, owned), 0, shape, (1,))
        return View(self.memory([float("nan")] * count, 4 * count, owned), 0, shape, _strides(shape))

    def op_memref_get_global(self, op, view, values, env):
        name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
        if name not in self.made_globals:
            self.made_globals[name] = self.tensor_constant(self.globals[name].attributes["initial_value"])
        return [self.made_globals[name]]

    def op_memref_dealloc(self, op, view, values, env):
        self.free(values[0].buffer)

    def op_memref_load(self, op, view, values, env):
        source = self.touch(values[0])
        return [source.buffer.cells[source.at(values[1:])]]

    def op_memref_store(self, op, view, values, env):
        target = self.touch(values[1])
        target.buffer.cells[target.at(values[2:])] = values[0]

    def op_memref_copy(self, op, view, values, env):
        source, target = self.touch(values[0]), self.touch(values[1])
        cells = [source.buffer.cells[i] for i in source.cells()]
        for i, cell in zip(target.cells(), cells, strict=False):
            target.buffer.cells[i] = cell

    def op_memref_subview(self, op, view, values, env):
        source = values[0]
        offsets, sizes, strides = (
            _mixed(op.attributes[f"static_{part}"], [env[v] for v in getattr(view, part)])
            for part in ("offsets", "sizes", "strides")
        )
        start = source.offset + sum(o * s for o, s in zip(offsets, source.strides, strict=False))
        return [
            View(
                source.buffer,
                start,
                tuple(sizes),
                tuple(a * b for a, b in zip(strides, source.strides, strict=False)),
            )
        ]

    def op_memref_view(self, op, view, values, env):
        shape = tuple(ir.MemRefType(op.results[0].type).shape)
        return [View(values[0].buffer, values[0].offset + values[1] // 4, shape, _strides(shape))]

    def op_memref_cast(self, op, view, values, env):
        return [values[0]]

    op_memref_memory_space_cast = op_memref_cast

    def op_memref_extract_strided_metadata(self, op, view, values, env):
        source = values[0]
        base = View(source.buffer, 0, (), ())
        return [base, source.offset, *source.sizes, *source.strides]

    def op_memref_extract_aligned_pointer_as_index(self, op, view, values, env):
        return [id(values[0].buffer)]

    def op_memref_dim(self, op, view, values, env):
        return [values[0].sizes[values[1]]]

    def op_bufferization_clone(self, op, view, values, env):
        source = self.touch(values[0])
        made = self.allocate(op.results[0].type, [], owned=True)
        made.buffer.cells[:] = [source.buffer.cells[i] for i in source.cells()]
        return [made]

    def op_arith_select(self, op, view, values, env):
        return [values[1] if values[0] else values[2]]

    def op_arith_cmpi(self, op, view, values, env):
        return [_COMPARE[ir.IntegerAttr(op.attributes["predicate"]).value](*values)]

    def op_func_call(self, op, view, values, env):
        return self.function(ir.FlatSymbolRefAttr(op.attributes["callee"]).value, values)

    def elementwise(self, function: Callable, views: list[View]) -> View:
        """A scalar op on tensors: a new tensor, which stands on no storage."""
        cells = [[v.buffer.cells[i] for i in v.cells()] for v in views]
        shape = views[0].sizes
        made = self.memory([function(*row) for row in zip(*cells, strict=True)], 0, owned=False)
        return View(made, 0, shape, _strides(shape))

    def destination(self, op: ir.Operation, given: View) -> View:
        """Where ``op`` writes: in place on storage, and for a tensor that stands on none into a copy, since tensors are values."""
        if not len(op.results) or given.buffer.owned:
            return given
        return View(
            self.memory(list(given.buffer.cells), 0, owned=False), given.offset, given.sizes, given.strides
        )

    # Structured control flow

    def op_scf_if(self, op, view, values, env):
        region = op.regions[0 if values[0] else 1]
        return self.blocks(region.blocks[0], env)[1] if len(region.blocks) else []

    def op_scf_for(self, op, view, values, env):
        low, high, step, *carried = values
        block = op.regions[0].blocks[0]
        for i in range(low, high, step):
            env.update(zip(block.arguments, [i, *carried], strict=False))
            carried = self.blocks(block, env)[1]
        return carried

    def op_scf_while(self, op, view, values, env):
        before, after = (r.blocks[0] for r in op.regions)
        while True:
            env.update(zip(before.arguments, values, strict=False))
            goes_on, *passed = self.blocks(before, env)[1]
            if not goes_on:
                return passed
            env.update(zip(after.arguments, passed, strict=False))
            values = self.blocks(after, env)[1]

    def op_flow_dispatch_region(self, op, view, values, env):
        return self.blocks(op.regions[0].blocks[0], env)[1]

    # Structured ops, on buffers and on tensors that stand on a storage

    def op_linalg_fill(self, op, view, values, env):
        target = self.destination(op, self.touch(values[1]))
        for i in target.cells():
            target.buffer.cells[i] = values[0]
        return [target] if len(op.results) else []

    def op_linalg_copy(self, op, view, values, env):
        target = self.destination(op, values[1])
        self.op_memref_copy(op, view, [values[0], target], env)
        return [target] if len(op.results) else []

    def op_linalg_generic(self, op, view, values, env):
        views = [self.touch(v) for v in values]
        views[-1] = self.destination(op, views[-1])
        block = op.regions[0].blocks[0]
        for where in zip(*(v.cells() for v in views), strict=False):  # identity maps only
            env.update(
                zip(
                    block.arguments,
                    [v.buffer.cells[i] for v, i in zip(views, where, strict=False)],
                    strict=False,
                )
            )
            (result,) = self.blocks(block, env)[1]
            views[-1].buffer.cells[where[-1]] = result
        return [views[-1]] if len(op.results) else []

    def op_fissile_alloc_storage(self, op, view, values, env):
        return [View(self.memory([float("nan")] * (values[0] // 4), values[0], True), 0, (), ())]

    def op_fissile_alloc_tensor(self, op, view, values, env):
        storage, offset, *sizes = values
        given, kind = iter(sizes), ir.RankedTensorType(op.results[0].type)
        shape = tuple(
            next(given) if kind.is_dynamic_dim(i) else kind.get_dim_size(i) for i in range(kind.rank)
        )
        return [View(storage.buffer, offset // 4, shape, _strides(shape))]

    def op_fissile_kill(self, op, view, values, env):
        if str(op.operands[0].type) == "!fissile.storage":
            self.free(values[0].buffer)

    def op_tensor_empty(self, op, view, values, env):
        shape = tuple(ir.RankedTensorType(op.results[0].type).shape)
        count = _count(shape)
        return [View(self.memory([float("nan")] * count, 0, False), 0, shape, _strides(shape))]

    def op_tensor_extract(self, op, view, values, env):
        return self.op_memref_load(op, view, values, env)

    def op_tensor_insert(self, op, view, values, env):
        target = self.destination(op, values[1])
        self.op_memref_store(op, view, [values[0], target, *values[2:]], env)
        return [target]


def _count(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _mixed(static, given: list[int]) -> list[int]:
    rest = iter(given)
    return [next(rest) if size == -(2**63) else size for size in static]


_COMPARE = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    2: lambda a, b: a < b,
    3: lambda a, b: a <= b,
    4: lambda a, b: a > b,
    5: lambda a, b: a >= b,
}
_SCALARS = {
    "arith.index_cast": lambda a: a,
    "arith.addf": lambda a, b: a + b,
    "arith.mulf": lambda a, b: a * b,
    "arith.addi": lambda a, b: a + b,
    "arith.muli": lambda a, b: a * b,
    "arith.xori": lambda a, b: a ^ b,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
}


def _case(switch, env: dict) -> int:
    """The number of the edge that a cf.switch takes: 0 is the default."""
    wanted = switch.case_values
    cases = [wanted[i] for i in range(len(wanted))] if wanted is not None else []
    return cases.index(env[switch.flag]) + 1 if env[switch.flag] in cases else 0

"""For each op a program that may not fit its storage, and a twin that is proved to."""

EYE, EYE2 = "affine_map<(a) -> (a)>", "affine_map<(a, b) -> (a, b)>"


def generic(
    ins: str,
    types: str,
    out: str,
    kind: str,
    body: str = "linalg.yield %cst : f32",
    maps: str = "",
    loops: int = 1,
    block: str = "%p: f32, %q: f32",
) -> str:
    maps = maps or f"{EYE}, {EYE}"
    iterators = ", ".join(['"parallel"'] * loops)
    return (
        f"%g = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} ins({ins} : {types}) "
        f"outs({out} : {kind}) {{\n^bb0({block}):\n{body}\n}} -> {kind}"
    )


CASES = {
    # op: (arguments, program that is not proved, arguments of the twin, twin that is proved)
    "tensor.extract_slice": (
        "%x: tensor<?xf32>, %n: index",
        "%r = tensor.extract_slice %x[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>",
        "%x: tensor<?xf32>",
        "%n = tensor.dim %x, %c0 : tensor<?xf32>\n"
        "%r = tensor.extract_slice %x[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>",
    ),
    "tensor.insert_slice": (
        "%x: tensor<4xf32>, %y: tensor<16xf32>, %o: index",
        "%r = tensor.insert_slice %x into %y[%o] [4] [1] : tensor<4xf32> into tensor<16xf32>",
        "%x: tensor<4xf32>, %y: tensor<16xf32>, %n: index",
        "%a = arith.maxsi %n, %c0 : index\n%o = arith.minsi %a, %c8 : index\n"
        "%r = tensor.insert_slice %x into %y[%o] [4] [1] : tensor<4xf32> into tensor<16xf32>",
    ),
    "tensor.cast": (
        "%x: tensor<?xf32>",
        "%r = tensor.cast %x : tensor<?xf32> to tensor<4xf32>",
        "%x: tensor<4xf32>",
        "%a = tensor.cast %x : tensor<4xf32> to tensor<?xf32>\n"
        "%r = tensor.cast %a : tensor<?xf32> to tensor<4xf32>",
    ),
    "tensor.expand_shape": (
        "%x: tensor<?xf32>, %n: index",
        "%r = tensor.expand_shape %x [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>",
        "%x: tensor<?x4xf32>",
        "%n = tensor.dim %x, %c0 : tensor<?x4xf32>\n"
        "%a = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>\n"
        "%r = tensor.expand_shape %a [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>",
    ),
    "tensor.reshape": (
        "%x: tensor<?xf32>, %n: index",
        "%s = tensor.from_elements %n, %c2 : tensor<2xindex>\n"
        "%r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x2xf32>",
        "%x: tensor<?x2xf32>",
        "%n = tensor.dim %x, %c0 : tensor<?x2xf32>\n"
        "%s = tensor.from_elements %c2, %n : tensor<2xindex>\n"
        "%r = tensor.reshape %x(%s) : (tensor<?x2xf32>, tensor<2xindex>) -> tensor<2x?xf32>",
    ),
    "tensor.pad": (
        "%x: tensor<4xf32>, %n: index",
        "%r = tensor.pad %x low[%n] high[0] {\n^bb0(%i: index):\n"
        "tensor.yield %cst : f32\n} : tensor<4xf32> to tensor<?xf32>",
        "%x: tensor<4xf32>, %y: tensor<?xf32>",
        "%n = tensor.dim %y, %c0 : tensor<?xf32>\n"
        "%r = tensor.pad %x low[%n] high[0] {\n^bb0(%i: index):\ntensor.yield %cst : f32\n} "
        ": tensor<4xf32> to tensor<?xf32>",
    ),
    "tensor.concat": (
        "%x: tensor<2x?xf32>, %y: tensor<2x?xf32>",
        "%r = tensor.concat dim(0) %x, %y : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<4x?xf32>",
        "%x: tensor<2x?xf32>, %y: tensor<2x?xf32>",
        "%r = tensor.concat dim(1) %x, %y : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>",
    ),
    "tensor.dim": (
        "%x: tensor<2x?xf32>, %n: index",
        "%r = tensor.dim %x, %n : tensor<2x?xf32>",
        "%x: tensor<2x?xf32>",
        "%r = tensor.dim %x, %c1 : tensor<2x?xf32>",
    ),
    "tensor.extract": (
        "%x: tensor<8xf32>, %n: index",
        "%r = tensor.extract %x[%n] : tensor<8xf32>",
        "%x: tensor<8xf32>, %n: index",
        "%i = arith.remui %c10, %c8 : index\n%r = tensor.extract %x[%i] : tensor<8xf32>",
    ),
    "tensor.insert": (
        "%x: tensor<8xf32>, %n: index",
        "%r = tensor.insert %cst into %x[%n] : tensor<8xf32>",
        "%x: tensor<8xf32>",
        "%r = tensor.insert %cst into %x[%c4] : tensor<8xf32>",
    ),
    "tensor.empty": (
        "%n: index",
        "%r = tensor.empty(%n) : tensor<?xf32>",
        "%x: tensor<?xf32>",
        "%n = tensor.dim %x, %c0 : tensor<?xf32>\n%r = tensor.empty(%n) : tensor<?xf32>",
    ),
    "linalg.matmul": (
        "%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>",
        "%r = linalg.matmul ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>",
        "%x: tensor<?x8xf32>, %y: tensor<8x?xf32>",
        "%m = tensor.dim %x, %c0 : tensor<?x8xf32>\n%n = tensor.dim %y, %c1 : tensor<8x?xf32>\n"
        "%z = tensor.empty(%m, %n) : tensor<?x?xf32>\n"
        "%r = linalg.matmul ins(%x, %y : tensor<?x8xf32>, tensor<8x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>",
    ),
    "linalg.conv_1d": (
        "%x: tensor<?xf32>, %k: tensor<3xf32>, %z: tensor<?xf32>",
        "%r = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<3xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>",
        "%x: tensor<?xf32>, %k: tensor<3xf32>",
        "%n = tensor.dim %x, %c0 : tensor<?xf32>\n%m = arith.subi %n, %c2 : index\n%p = arith.maxsi %m, %c0 : index\n"
        "%z = tensor.empty(%p) : tensor<?xf32>\n"
        "%r = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<3xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>",
    ),
    "linalg.generic": (
        "%x: tensor<?xf32>, %j: tensor<?xi32>, %z: tensor<?xf32>",
        generic(
            "%j",
            "tensor<?xi32>",
            "%z",
            "tensor<?xf32>",
            "%i = arith.index_cast %p : i32 to index\n%r = tensor.extract %x[%i] : tensor<?xf32>\n"
            "linalg.yield %r : f32",
            block="%p: i32, %q: f32",
        ),
        "%x: tensor<8xf32>, %j: tensor<4xi32>, %z: tensor<4xf32>",
        generic(
            "%j",
            "tensor<4xi32>",
            "%z",
            "tensor<4xf32>",
            "%l = arith.index_cast %p : i32 to index\n%h = arith.minsi %l, %c4 : index\n"
            "%i = arith.maxsi %h, %c0 : index\n%r = tensor.extract %x[%i] : tensor<8xf32>\nlinalg.yield %r : f32",
            block="%p: i32, %q: f32",
        ),
    ),
    "memref.view": (
        "%b: memref<64xi8>, %n: index",
        "%r = memref.view %b[%c0][%n] : memref<64xi8> to memref<?xf32>",
        "%b: memref<64xi8>",
        "%r = memref.view %b[%c4][] : memref<64xi8> to memref<15xf32>",
    ),
    "memref.subview": (
        "%b: memref<16xf32>, %n: index",
        "%r = memref.subview %b[%n] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: ?>>",
        "%b: memref<16xf32>",
        "%r = memref.subview %b[%c8] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: ?>>",
    ),
    "memref.reinterpret_cast": (
        "%b: memref<16xf32>, %n: index",
        "%r = memref.reinterpret_cast %b to offset: [0], sizes: [%n], strides: [2] "
        ": memref<16xf32> to memref<?xf32, strided<[2]>>",
        "%b: memref<16xf32>",
        "%r = memref.reinterpret_cast %b to offset: [0], sizes: [%c8], strides: [2] "
        ": memref<16xf32> to memref<?xf32, strided<[2]>>",
    ),
    "memref.load": (
        "%b: memref<?xf32>, %n: index",
        "%r = memref.load %b[%n] : memref<?xf32>",
        "%b: memref<?xf32>",
        "%n = memref.dim %b, %c0 : memref<?xf32>\nscf.for %i = %c0 to %n step %c1 {\n"
        "%r = memref.load %b[%i] : memref<?xf32>\n}",
    ),
    "memref.store": (
        "%b: memref<8xf32>, %n: index",
        "scf.for %i = %c0 to %n step %c1 {\nmemref.store %cst, %b[%i] : memref<8xf32>\n}",
        "%b: memref<8xf32>",
        "scf.for %i = %c0 to %c8 step %c1 {\nmemref.store %cst, %b[%i] : memref<8xf32>\n}",
    ),
    "memref.copy": (
        "%a: memref<?xf32>, %b: memref<?xf32>",
        "memref.copy %a, %b : memref<?xf32> to memref<?xf32>",
        "%a: memref<?xf32>",
        "%n = memref.dim %a, %c0 : memref<?xf32>\n%b = memref.alloc(%n) : memref<?xf32>\n"
        "memref.copy %a, %b : memref<?xf32> to memref<?xf32>",
    ),
    "fissile.alloc_tensor": (
        "%n: index",
        '%s = "fissile.alloc_storage"(%c64) : (index) -> !fissile.storage\n'
        '%t = "fissile.alloc_tensor"(%s, %c0, %n) : (!fissile.storage, index, index) -> tensor<?xf32>',
        "%n: index",
        '%s = "fissile.alloc_storage"(%c64) : (index) -> !fissile.storage\n'
        '%t = "fissile.alloc_tensor"(%s, %c4) : (!fissile.storage, index) -> tensor<15xf32>',
    ),
    "fissile.require": (
        "%n: index",
        '%b = arith.cmpi sle, %n, %c8 : index\n"fissile.require"(%b) {message = "n is at most 8"} : (i1) -> ()',
        "%m: index",
        "%n = arith.minsi %m, %c4 : index\n%b = arith.cmpi sle, %n, %c8 : index\n"
        '"fissile.require"(%b) {message = "n is at most 8"} : (i1) -> ()',
    ),
    "scf.for": (
        "%n: index",
        "scf.for %i = %c0 to %c8 step %n {\n}",
        "%n: index",
        "scf.for %i = %c0 to %n step %c2 {\n}",
    ),
}

"""Functions that the random programs call: each hands storage to its caller in another way."""

HELPERS = """\
func.func private @fresh(%f: f32) -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<8xf32>)
  return %a : memref<8xf32>
}
func.func private @first(%m: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %t = memref.alloc() : memref<8xf32>
  memref.copy %m, %t : memref<8xf32> to memref<8xf32>
  %l = memref.load %t[%c0] : memref<8xf32>
  return %l : f32
}
func.func private @same(%m: memref<8xf32>) -> memref<8xf32> {
  return %m : memref<8xf32>
}
func.func private @either(%c: i1, %m: memref<8xf32>, %o: memref<8xf32>) -> memref<8xf32> {
  %r = scf.if %c -> memref<8xf32> {
    scf.yield %m : memref<8xf32>
  } else {
    %s = func.call @same(%o) : (memref<8xf32>) -> memref<8xf32>
    scf.yield %s : memref<8xf32>
  }
  return %r : memref<8xf32>
}
func.func private @pick(%c: i1, %f: f32) -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<8xf32>)
  %r = scf.if %c -> memref<8xf32> {
    %b = memref.alloc() : memref<8xf32>
    memref.copy %a, %b : memref<8xf32> to memref<8xf32>
    scf.yield %b : memref<8xf32>
  } else {
    scf.yield %a : memref<8xf32>
  }
  return %r : memref<8xf32>
}
func.func private @twice(%f: f32) -> (memref<8xf32>, memref<8xf32>) {
  %a = func.call @fresh(%f) : (f32) -> memref<8xf32>
  return %a, %a : memref<8xf32>, memref<8xf32>
}
func.func private @parts(%f: f32) -> (memref<4xf32, strided<[1], offset: 2>>, memref<8xf32>) {
  %a:2 = func.call @twice(%f) : (f32) -> (memref<8xf32>, memref<8xf32>)
  %v = memref.subview %a#1[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  return %v, %a#0 : memref<4xf32, strided<[1], offset: 2>>, memref<8xf32>
}
"""

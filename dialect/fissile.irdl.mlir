// The dialect `fissile` in IRDL, for `iree-opt --irdl-file=fissile.irdl.mlir`. `ops.py` holds the same ops
// for use in process, `verify.py` all their rules; a test holds the three together.
//
// What IRDL cannot say, and verify.py does: that a group's yielded types are its result types, that sizes
// match dynamic dimensions, that a message is not empty, that fissile.budget is a positive i64. And one thing
// IRDL says too strictly: a variadic constraint binds once, so all results of one group must have one type.
irdl.dialect @fissile {
  irdl.type @storage {}

  irdl.operation @boundary {
    %tensor = irdl.base "!builtin.tensor"
    irdl.operands(value: %tensor)
    irdl.results(result: %tensor)
  }

  irdl.operation @group {
    %tensor = irdl.base "!builtin.tensor"
    irdl.results(results: variadic %tensor)
    %body = irdl.region with size 1
    irdl.regions(body: %body)
  }

  irdl.operation @require {
    %i1 = irdl.is i1
    irdl.operands(condition: %i1)
    %text = irdl.base "#builtin.string"
    irdl.attributes {"message" = %text}
  }

  irdl.operation @alloc_storage {
    %index = irdl.is index
    %storage = irdl.base @fissile::@storage
    irdl.operands(capacity: %index)
    irdl.results(storage: %storage)
  }

  irdl.operation @alloc_tensor {
    %storage = irdl.base @fissile::@storage
    %index = irdl.is index
    %tensor = irdl.base "!builtin.tensor"
    irdl.operands(storage: %storage, offset: %index, sizes: variadic %index)
    irdl.results(result: %tensor)
  }

  irdl.operation @kill {
    %storage = irdl.base @fissile::@storage
    %tensor = irdl.base "!builtin.tensor"
    %killable = irdl.any_of(%storage, %tensor)
    irdl.operands(value: %killable)
  }
}

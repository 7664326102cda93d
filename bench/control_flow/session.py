"""Calls of a module's function `main` in one session: `python -m bench.control_flow.session MODULE DRIVER SIZES`.

Standard input is a JSON list of calls, each the arguments of one: lists of 32-bit integers, which are tensors of the sizes (`2x2`), and numbers. Standard output is
the results of each, read after the last call.
"""

from __future__ import annotations

import json
import sys

import iree.runtime as rt
import numpy as np


def main() -> None:
    module, driver, sizes = sys.argv[1:]
    shape = [int(size) for size in sizes.split("x")]
    config = rt.Config(driver)
    context = rt.SystemContext(config=config)
    context.add_vm_module(rt.VmModule.mmap(context.instance, module))
    function = context.modules.module["main"]
    results = [
        function(*(np.array(v, np.int32).reshape(shape) if isinstance(v, list) else v for v in call))
        for call in json.load(sys.stdin)
    ]
    rows = [result if isinstance(result, list | tuple) else [result] for result in results]
    print(json.dumps([[_on_host(config.device, value).ravel().tolist() for value in row] for row in rows]))


def _on_host(device: rt.HalDevice, value: rt.DeviceArray) -> np.ndarray:
    """The elements of ``value``. A Vulkan device imports only memory that is aligned to a page, which NumPy's is not (IREE 3.13)."""
    visible = rt.MemoryType.HOST_LOCAL | rt.MemoryType.DEVICE_VISIBLE
    usage = rt.BufferUsage.TRANSFER | rt.BufferUsage.MAPPING
    copy = device.allocator.allocate_buffer(visible, usage, 4 * max(1, int(np.prod(value.shape))))
    semaphore = device.create_semaphore(0)
    done = rt.HalFence.create_at(semaphore, 1)
    device.queue_copy(value._buffer_view.get_buffer(), copy, rt.HalFence(0), done)
    done.wait()
    return np.array(copy.map().asarray(value.shape, np.dtype(np.int32)))


if __name__ == "__main__":
    main()

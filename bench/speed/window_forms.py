"""Convolutions that IREE does not vectorise on llvm-cpu: of three dimensions, with groups, depthwise in the order NCHW, and with kernels in another order.

    python -m bench.speed.window_forms FOLDER   # writes the programs
    python -m bench.speed.fusion_tune FOLDER    # stock against one product for each element of the window: FIS212

Names say the op, the elements of the image, the kernel, the stride and the rows: ``depthwise_f32_3_s1_28``.
"""

from __future__ import annotations

import sys

from bench.programs.program_files import write_programs

OPS = {
    # the op, the order of the image, of the kernel and of the result: c channels, g groups, s rows, k the kernel's, o channels of the result
    "depthwise": ("depthwise_conv_2d_nchw_chw", "bcss", "ckk", "bcss"),
    "groups": ("conv_2d_ngchw_gfchw", "bgcss", "gockk", "bgoss"),
    "groups_last": ("conv_2d_nhwgc_gfhwc", "bssgc", "gokkc", "bssgo"),
    "volume": ("conv_3d_ncdhw_fcdhw", "bcsss", "ockkk", "bosss"),
    "volume_last": ("conv_3d_ndhwc_dhwcf", "bsssc", "kkkco", "bssso"),
    "filters_first": ("conv_2d_nhwc_fhwc", "bssc", "okkc", "bsso"),
}
ROWS = {"volume": (4, 8, 16), "volume_last": (4, 8, 16)}
USUAL_ROWS = (4, 7, 14, 28, 56)
CHANNELS = {
    "depthwise": 64,
    "groups": 8,
    "groups_last": 8,
    "volume": 16,
    "volume_last": 16,
    "filters_first": 32,
}
GROUPS = 8


def convolution(form: str, element: str, kernel: int, stride: int, rows: int) -> str:
    op, image, weights, result = OPS[form]
    sizes = {
        "b": 1,
        "c": CHANNELS[form],
        "o": CHANNELS[form],
        "g": GROUPS,
        "k": kernel,
        "s": (rows - 1) * stride + kernel,
    }
    kept = "i32" if element == "i8" else element

    def tensor(letters: str, of: str, given: dict[str, int]) -> str:
        return f"tensor<{''.join(f'{given[letter]}x' for letter in letters)}{of}>"

    x, w, r = (
        tensor(image, element, sizes),
        tensor(weights, element, sizes),
        tensor(result, kept, sizes | {"s": rows}),
    )
    dims = weights.count("k")
    zero = "0" if kept == "i32" else "0.0"
    return f"""func.func @main(%x: {x}, %w: {w}) -> {r} {{
  %zero = arith.constant {zero} : {kept}
  %empty = tensor.empty() : {r}
  %start = linalg.fill ins(%zero : {kept}) outs(%empty : {r}) -> {r}
  %r = linalg.{op} {{dilations = dense<1> : tensor<{dims}xi64>, strides = dense<{stride}> : tensor<{dims}xi64>}}
      ins(%x, %w : {x}, {w}) outs(%start : {r}) -> {r}
  return %r : {r}
}}
"""


def programs() -> dict[str, str]:
    """Name -> MLIR text."""
    made = {}
    for form in OPS:
        for rows in ROWS.get(form, USUAL_ROWS):
            for kernel, stride in ((3, 1), (3, 2)) if form in ROWS else ((3, 1), (3, 2), (5, 1), (7, 1)):
                for element in ("f32", "i8"):
                    made[f"{form}_{element}_{kernel}_s{stride}_{rows}"] = convolution(
                        form, element, kernel, stride, rows
                    )
    return made


if __name__ == "__main__":
    sys.exit(write_programs(__doc__, programs()))

"""JAX: the jitted convolution and its linear transposes; layouts as dimension numbers, casts inside the jit."""
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np

from worker import Way, serve

SPATIAL = {2: "HW", 3: "DHW"}


def dimension_numbers(cell):
    spatial = SPATIAL[cell.layer.rank]
    return ("NC" + spatial, "OI" + spatial, "NC" + spatial) if cell.first else (
        "N" + spatial + "C", spatial + "IO", "N" + spatial + "C")


def filter_to_layout(cell, array):
    return np.ascontiguousarray(np.moveaxis(array, (-1, -2), (0, 1))) if cell.first else array


def filter_from_layout(cell, array):
    return np.moveaxis(array, (0, 1), (-1, -2)) if cell.first else array


def convolution(cell):
    layer = cell.layer
    return lambda image, kernel: jax.lax.conv_general_dilated(
        image, kernel, layer.stride, layer.pads, rhs_dilation=layer.dilation,
        dimension_numbers=dimension_numbers(cell), feature_group_count=layer.groups)


def gradient(cell, image, kernel):
    """Two arguments in the order of convgrad's operands, the result in the dtype asked for."""
    conv = convolution(cell)
    like = (lambda array: jax.ShapeDtypeStruct(array.shape, jnp.float32 if cell.cast else array.dtype))
    if cell.op == "input":
        return lambda kernel, dy: jax.linear_transpose(lambda x: conv(x, kernel), like(image))(dy)[0]
    return lambda image, dy: jax.linear_transpose(lambda f: conv(image, f), like(kernel))(dy)[0]


def cast_around(function, dtype):
    return lambda a, b: function(a.astype(jnp.float32), b.astype(jnp.float32)).astype(dtype)


class Jax:
    def __init__(self, _):
        jax.config.update("jax_enable_x64", True)
        self.version = f"JAX {jax.__version__}"

    def ways(self, cell, operands):
        image = jax.device_put(cell.to_layout(operands.input))
        kernel = jax.device_put(filter_to_layout(cell, operands.filter))
        dy = jax.device_put(cell.to_layout(operands.out_backprop))
        function = convolution(cell) if cell.op == "forward" else gradient(cell, image, kernel)
        arguments = {"forward": (image, kernel), "input": (kernel, dy), "filter": (image, dy)}[cell.op]
        if cell.cast:
            function = cast_around(function, kernel.dtype)
        compiled = jax.jit(function).lower(*arguments).compile()
        back = filter_from_layout if cell.op == "filter" else type(cell).from_layout
        yield Way("conv_general_dilated", lambda: compiled(*arguments).block_until_ready(),
                  lambda result: back(cell, np.asarray(result)))


if __name__ == "__main__":
    serve(Jax)

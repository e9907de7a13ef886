"""oneDNN without a framework, through the small library that install builds from onednn_peer.cc.

Images and filters are plain in both layouts; the filter's reorder to and from oneDNN's own format is timed.
"""
import ctypes
import os
import pathlib

import numpy as np

from cells import DTYPES
from worker import Way, serve

LIBRARY = pathlib.Path(os.environ["ONEDNN_PEER"])
OPS = ["forward", "input", "filter"]
TYPES = ["f32", "f64", "bf16", "f16"]
TRIPLE = ctypes.c_int64 * 3


class Problem(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("op", "rank", "n", "c_in", "c_out", "groups")] + [
        (name, TRIPLE) for name in ("size", "filter", "out", "stride", "dilation", "before", "after")] + [
        (name, ctypes.c_int64) for name in ("dtype", "compute_dtype", "first")]


def problem_of(cell):
    layer = cell.layer
    dtype = TYPES.index(cell.dtype)
    lists = (layer.size, layer.filter, layer.out, layer.stride, layer.dilation, *zip(*layer.pads))
    return Problem(OPS.index(cell.op), layer.rank, layer.n, layer.c_in, layer.c_out, layer.groups,
                   *(TRIPLE(*numbers) for numbers in lists), dtype, TYPES.index("f32") if cell.cast else dtype,
                   cell.first)


def load():
    library = ctypes.CDLL(LIBRARY)
    handle = ctypes.c_void_p
    for name, result, arguments in (("make", handle, [ctypes.POINTER(Problem)]), ("free", None, [handle]),
                                    ("buffer", handle, [handle, ctypes.c_int]), ("kernel", ctypes.c_char_p, [handle]),
                                    ("run", ctypes.c_int, [handle]), ("error", ctypes.c_char_p, []),
                                    ("version", ctypes.c_char_p, [])):
        function = getattr(library, "onednn_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class Convolution:
    def __init__(self, library, cell):
        self.library, self.cell = library, cell
        self.handle = library.onednn_make(ctypes.byref(problem_of(cell)))
        if not self.handle:
            raise RuntimeError(library.onednn_error().decode())
        self.kernel = library.onednn_kernel(self.handle).decode()

    def __del__(self):
        if self.handle:
            self.library.onednn_free(self.handle)

    def array(self, which, shape):
        """The memory of the input (0), filter (1) or output (2)."""
        dtype = np.dtype(DTYPES[self.cell.dtype])
        count = int(np.prod(shape))
        memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(self.library.onednn_buffer(self.handle, which))
        return np.frombuffer(memory, dtype).reshape(shape)

    def images(self, which, shape):
        """Of the cell's layout, seen channels last."""
        n, *spatial, c = shape
        return self.array(which, (n, c, *spatial) if self.cell.first else shape), self.cell.from_layout

    def tensors(self):
        layer = self.cell.layer
        n_in, back = self.images(0, layer.in_shape)
        n_out, _ = self.images(2, layer.out_shape)
        *spatial, c_in, c_out = layer.filter_shape
        kernel = self.array(1, (c_out, c_in, *spatial) if self.cell.first else layer.filter_shape)
        return back(n_in), np.moveaxis(kernel, (0, 1), (-1, -2)) if self.cell.first else kernel, back(n_out)

    def run(self):
        if self.library.onednn_run(self.handle):
            raise RuntimeError(self.library.onednn_error().decode())


class OneDnn:
    def __init__(self, _):
        self.library = load()
        self.version = self.library.onednn_version().decode()

    def ways(self, cell, operands):
        convolution = Convolution(self.library, cell)
        tensors = dict(zip(("input", "filter", "forward"), convolution.tensors()))
        sources = {"input": operands.input, "filter": operands.filter, "forward": operands.out_backprop}
        for name, tensor in tensors.items():
            # The result starts as NaN: an element that is not written shows.
            tensor[...] = np.nan if name == cell.op else sources[name]
        yield Way(convolution.kernel, convolution.run, lambda _: tensors[cell.op])


if __name__ == "__main__":
    serve(OneDnn)

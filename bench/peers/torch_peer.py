"""PyTorch: contiguous tensors for channels first, its channels_last memory formats for channels last.

Uneven padding is added and cut off by hand, inside the time.
"""
import numpy as np
import torch
import torch.nn.functional

from worker import Way, serve

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16}
FORWARD = {2: torch.nn.functional.conv2d, 3: torch.nn.functional.conv3d}
LAST = {2: torch.channels_last, 3: torch.channels_last_3d}


def tensor_of(array, dtype):
    # NumPy's bfloat16 is unknown to torch; its bits are not.
    return torch.from_numpy(array.view(np.int16)).view(dtype) if array.itemsize == 2 else torch.from_numpy(array)


def array_of(tensor):
    return (tensor.float() if tensor.element_size() == 2 else tensor).numpy()


class Session:
    """The tensors of a cell in torch's order of dimensions: (n, c, spatial...) and (c_out, c_in, spatial...)."""

    def __init__(self, cell, operands):
        self.cell, self.layer = cell, cell.layer
        rank = self.layer.rank
        self.format = torch.contiguous_format if cell.first else LAST[rank]
        self.dtype = DTYPES[cell.dtype]
        self.compute = torch.float32 if cell.cast else self.dtype
        self.input = self.tensor(operands.input, (0, rank + 1, *range(1, rank + 1)))
        self.out_backprop = self.tensor(operands.out_backprop, (0, rank + 1, *range(1, rank + 1)))
        self.filter = self.tensor(operands.filter, (rank + 1, rank, *range(rank)))
        self.even = all(before == after for before, after in self.layer.pads)
        self.zeros = [n for pair in reversed(self.layer.pads) for n in pair]  # the last dimension first
        self.padding = [before for before, _ in self.layer.pads] if self.even else [0] * rank

    def tensor(self, array, order):
        return tensor_of(array, self.dtype).permute(order).contiguous(memory_format=self.format)

    def padded(self, image):
        return image if self.even else torch.nn.functional.pad(image, self.zeros)

    def cut(self, image):
        if self.even:
            return image
        for dimension, ((before, _), size) in enumerate(zip(self.layer.pads, self.layer.size)):
            image = image.narrow(2 + dimension, before, size)
        return image.contiguous(memory_format=self.format)

    def forward(self):
        layer = self.layer
        image = self.padded(self.input.to(self.compute))
        return FORWARD[layer.rank](image, self.filter.to(self.compute), None, layer.stride, self.padding,
                                   layer.dilation, layer.groups).to(self.dtype)

    def backward(self, image, kernel):
        """Of the image and the filter the one that is not differentiated is read; the other gives its shape."""
        layer, of_input = self.layer, self.cell.op == "input"
        gradients = torch.ops.aten.convolution_backward(
            self.out_backprop.to(self.compute), image, kernel, None, layer.stride, self.padding, layer.dilation, False,
            [0] * layer.rank, layer.groups, [of_input, not of_input, False])
        return gradients[0 if of_input else 1]

    def call(self):
        if self.cell.op == "forward":
            return self.forward
        if self.cell.op == "input":
            shape_only = torch.empty_like(self.padded(self.input), dtype=self.compute)
            return lambda: self.cut(self.backward(shape_only, self.filter.to(self.compute))).to(self.dtype)
        shape_only = torch.empty_like(self.filter, dtype=self.compute)
        return lambda: self.backward(self.padded(self.input.to(self.compute)), shape_only).to(self.dtype)

    def read(self, result):
        rank = self.layer.rank
        order = (*range(2, rank + 2), 1, 0) if self.cell.op == "filter" else (0, *range(2, rank + 2), 1)
        return array_of(result.permute(order))


class PyTorch:
    def __init__(self, threads):
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.version = f"PyTorch {torch.__version__.split('+')[0]}"

    def ways(self, cell, operands):
        session = Session(cell, operands)
        name = "conv" if session.even else "conv, padded by hand"
        yield Way(name, session.call(), session.read)


if __name__ == "__main__":
    serve(PyTorch)

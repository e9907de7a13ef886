"""One cell to measure: a layer of shapes.json with an op, a dtype and a layout; its operands and its definition.

Operands and results are kept channels last, filters as (spatial..., in channels of a group, out channels).
"""
import math

import ml_dtypes
import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
SAMPLES = 12
# |computed - exact| / sqrt(sum of squared terms) that no order of rounding explains. Wide on purpose: a rival that
# keeps 16-bit sums is inaccurate and still counts.
WRONG = {"f32": 1e-2, "f64": 1e-6, "bf16": 0.5, "f16": 0.5}


def same_pads(size, filter, stride, dilation):
    """TensorFlow's SAME: as many outputs as strides fit, the odd zero behind."""
    total = max(0, (-(-size // stride) - 1) * stride + (filter - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


class Layer:
    """The numbers of one shape."""

    def __init__(self, shape):
        self.name = shape["name"]
        self.n, self.c_in, self.c_out, self.groups = shape["N"], shape["Cin"], shape["Cout"], shape.get("groups", 1)
        self.size, self.filter = shape["spatial"], shape["kernel"]
        self.rank = len(self.size)
        self.stride = shape.get("stride", [1] * self.rank)
        self.dilation = shape.get("dilation", [1] * self.rank)
        self.same = [same_pads(*d) for d in zip(self.size, self.filter, self.stride, self.dilation)]
        named = {"SAME": self.same, "VALID": [(0, 0)] * self.rank}
        self.pads = named[shape["pad"]] if isinstance(shape["pad"], str) else [tuple(p) for p in shape["pad"]]
        self.out = [(i + sum(p) - (f - 1) * d - 1) // s + 1
                    for i, p, f, d, s in zip(self.size, self.pads, self.filter, self.dilation, self.stride)]
        self.group_c_in, self.group_c_out = self.c_in // self.groups, self.c_out // self.groups
        self.in_shape = (self.n, *self.size, self.c_in)
        self.out_shape = (self.n, *self.out, self.c_out)
        self.filter_shape = (*self.filter, self.group_c_in, self.c_out)

    def flops(self):
        """Of any of the three ops, padding counted, as convgrad counts them."""
        return 2.0 * self.n * math.prod(self.out) * math.prod(self.filter) * self.group_c_in * self.c_out


class Cell:
    def __init__(self, request):
        self.layer = Layer(request["shape"])
        self.op, self.dtype, self.layout = request["op"], request["dtype"], request["layout"]
        self.cast = request["cast"]  # operands to f32 and the result back, by hand
        self.seconds = request["seconds"]
        self.first = self.layout == "first"

    def to_layout(self, image):
        """A channels-last array in the cell's layout."""
        return np.ascontiguousarray(np.moveaxis(image, -1, 1)) if self.first else image

    def from_layout(self, image):
        return np.moveaxis(image, 1, -1) if self.first else image


class Operands:
    """Random in [-1, 1), the same for every rival."""

    def __init__(self, layer, dtype):
        draw = np.random.default_rng(0)
        wide = np.float64 if dtype == "f64" else np.float32

        def uniform(shape):
            return (draw.random(shape, dtype=wide) * 2 - 1).astype(DTYPES[dtype])

        self.layer, self.dtype = layer, dtype
        self.input = uniform(layer.in_shape)
        self.filter = uniform(layer.filter_shape)
        self.out_backprop = uniform(layer.out_shape)

    def error(self, op, result):
        """Worst |computed - exact| / sqrt(sum of squared terms) of the sampled elements; infinite for NaN."""
        draw = np.random.default_rng(1)
        worst = 0.0
        for _ in range(SAMPLES):
            index = tuple(int(draw.integers(size)) for size in result.shape)
            terms = TERMS[op](self, index)
            difference = abs(float(result[index]) - float(terms.sum()))
            if not math.isfinite(difference):
                return math.inf
            if difference > 0:
                worst = max(worst, difference / (math.sqrt(float((terms * terms).sum())) + 1e-300))
        return worst


def meetings(layer, given, which):
    """Per dimension the (in, out, tap) with in = out * stride - before + tap * dilation, one of the three given."""
    found = []
    for d in range(layer.rank):
        triples = [(out * layer.stride[d] - layer.pads[d][0] + tap * layer.dilation[d], out, tap)
                   for out in (range(layer.out[d]) if which != "out" else [given[d]])
                   for tap in (range(layer.filter[d]) if which != "tap" else [given[d]])]
        found.append([t for t in triples if 0 <= t[0] < layer.size[d] and (which != "in" or t[0] == given[d])])
    ins, outs, taps = ([[t[k] for t in dimension] for dimension in found] for k in range(3))
    return ins, outs, taps


def picked(array, *indices):
    return array[np.ix_(*indices)].astype(np.float64)


def forward_terms(operands, index):
    layer, (n, *place, c) = operands.layer, index
    ins, _, taps = meetings(layer, place, "out")
    start = c // layer.group_c_out * layer.group_c_in
    x = picked(operands.input, [n], *ins, range(start, start + layer.group_c_in))[0]
    return x * picked(operands.filter, *taps, range(layer.group_c_in), [c])[..., 0]


def input_terms(operands, index):
    layer, (n, *place, c) = operands.layer, index
    _, outs, taps = meetings(layer, place, "in")
    group = c // layer.group_c_in
    channels = range(group * layer.group_c_out, (group + 1) * layer.group_c_out)
    dy = picked(operands.out_backprop, [n], *outs, channels)[0]
    return dy * picked(operands.filter, *taps, [c % layer.group_c_in], channels)[..., 0, :]


def filter_terms(operands, index):
    layer, (*tap, c_in, c) = operands.layer, index
    ins, outs, _ = meetings(layer, tap, "tap")
    channel = c // layer.group_c_out * layer.group_c_in + c_in
    return (picked(operands.input, range(layer.n), *ins, [channel])
            * picked(operands.out_backprop, range(layer.n), *outs, [c]))


TERMS = {"forward": forward_terms, "input": input_terms, "filter": filter_terms}

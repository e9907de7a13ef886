"""One layer many times: a plan, and memory that is used again."""

import numpy as np

import convgrad

rng = np.random.default_rng(0)
x = rng.standard_normal((8, 14, 14, 32), np.float32)
dy = rng.standard_normal((8, 7, 7, 64), np.float32)

plan = convgrad.Plan(
    "Conv2DBackpropFilter",
    input=x,
    filter_sizes=[3, 3, 32, 64],
    out_backprop=dy,
    strides=[1, 2, 2, 1],
    padding="SAME",
)
print(plan, plan.why, sep="\n")

dw = np.empty(plan.result_shape, plan.dtype)
for _ in range(10):
    plan(x, dy, out=dw)
assert (dw == convgrad.nn.conv2d_backprop_filter(x, [3, 3, 32, 64], dy, [1, 2, 2, 1], "SAME")).all()

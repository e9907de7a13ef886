"""The gradient of a 3-D convolution with respect to its filter, on NumPy arrays."""

import numpy as np

import convgrad

x = np.arange(1, 33, dtype=np.float32).reshape(2, 2, 2, 2, 2)
dy = np.array([2856, 2992, 6952, 7344], np.float32).reshape(2, 1, 1, 1, 2)
dw = convgrad.nn.conv3d_backprop_filter_v2(x, [2, 2, 2, 2, 2], dy, strides=[1, 4, 3, 2, 1], padding="SAME")
print(dw.ravel()[:4])
assert dw.ravel()[:4].tolist() == [121040, 127840, 130848, 138176]

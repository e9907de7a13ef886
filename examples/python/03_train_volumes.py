"""A dilated 3-D convolution learns a filter from volumes, by gradient descent on NumPy arrays alone.

TensorFlow's CPU kernels refuse the gradient of a dilated convolution.
"""

import numpy as np

from convgrad import conv_gradients, nn

rng = np.random.default_rng(0)
volumes = rng.standard_normal((4, 8, 8, 8, 1), np.float32)
true_filter = rng.standard_normal((3, 3, 3, 1, 2), np.float32)
window = {"strides": 1, "padding": "SAME", "dilations": 2}
wanted = nn.conv3d(volumes, true_filter, **window) + np.float32([0.5, -0.5])

filters, bias = np.zeros_like(true_filter), np.zeros(2, np.float32)
losses = []
for _ in range(60):
    error = nn.conv3d(volumes, filters, **window) + bias - wanted
    losses.append(float((error**2).mean()))
    _, dw, db = conv_gradients(volumes, filters, error * np.float32(2 / error[..., 0].size), **window)
    filters -= 0.3 * dw
    bias -= 0.3 * db
print(f"loss {losses[0]:.3f} -> {losses[-1]:.6f}, bias {bias}")
assert losses[-1] < 1e-3 * losses[0]

"""Convolution gradients as TensorFlow defines them, without TensorFlow.

>>> import numpy as np, convgrad
>>> x = np.ones((1, 4, 4, 1), np.float32)
>>> convgrad.nn.conv2d_backprop_filter(x, [3, 3, 1, 1], x, [1, 1, 1, 1], "SAME").ravel()
array([ 9., 12.,  9., 12., 16., 12.,  9., 12.,  9.], dtype=float32)
"""

from . import errors, nn, raw_ops
from ._config import show_config
from ._core import get_num_threads, set_num_threads, version
from ._gradients import ConvGradients, conv_gradients
from ._plan import Plan, explain

__version__ = version()

__all__ = [
    "ConvGradients",
    "Plan",
    "__version__",
    "conv_gradients",
    "errors",
    "explain",
    "get_num_threads",
    "nn",
    "raw_ops",
    "set_num_threads",
    "show_config",
]

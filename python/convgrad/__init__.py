"""Convolution gradients as TensorFlow defines them, without TensorFlow."""

from . import errors, nn, raw_ops
from ._core import get_num_threads, set_num_threads

__all__ = ["errors", "get_num_threads", "nn", "raw_ops", "set_num_threads"]

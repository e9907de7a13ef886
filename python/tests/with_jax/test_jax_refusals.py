"""Wrong calls raise the library's sentence, when the function is traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from convgrad import errors
from convgrad import jax as ours

X, W, DY = np.ones((2, 5, 5, 4), np.float32), np.ones((3, 3, 4, 6), np.float32), np.ones((2, 3, 3, 6), np.float32)

WRONG = {
    "stride-length": lambda x, w, dy: ours.conv(x, w, strides=(1, 1, 1)),
    "stride-range": lambda x, w, dy: ours.conv(x, w, strides=0),
    "dilation-range": lambda x, w, dy: ours.conv(x, w, dilations=-1),
    "dilation-length": lambda x, w, dy: ours.conv(x, w, dilations=()),
    "padding-name": lambda x, w, dy: ours.conv(x, w, padding="FULL"),
    "padding-list": lambda x, w, dy: ours.conv(x, w, padding=[(-1, 0), (0, 0)]),
    "format-name": lambda x, w, dy: ours.conv(x, w, data_format="HWNC"),
    "rank": lambda x, w, dy: ours.conv(x[0, 0], w),
    "channel-mismatch": lambda x, w, dy: ours.conv_input_gradient((2, 5, 5, 4), w, dy[..., :4]),
    "group-divisibility": lambda x, w, dy: ours.conv(x[..., :3], w),
    "negative-output": lambda x, w, dy: ours.conv(x[:, :1], w),
    "batch-mismatch": lambda x, w, dy: ours.conv_filter_gradient(x[:1], (3, 3, 4, 6), dy),
    "out-shape-mismatch": lambda x, w, dy: ours.conv_filter_gradient(x, (2, 3, 4, 6), dy),
    "size-vector-length": lambda x, w, dy: ours.conv_filter_gradient(x, (3, 3, 4), dy),
    "size-vector-rank": lambda x, w, dy: ours.conv_filter_gradient(x, [[3, 3, 4, 6]], dy),
    "negative-dim": lambda x, w, dy: ours.conv_input_gradient((2, -5, 5, 4), w, dy),
    "stride-nc": lambda x, w, dy: ours.conv_filter_gradient(x, (3, 3, 4, 6), dy, strides=(2, 1, 1, 1)),
}

WRONG_TYPE = {
    "strides": lambda: ours.conv(X, W, strides=1.5),
    "dilations": lambda: ours.conv(X, W, dilations=(1, "2")),
    "padding": lambda: ours.conv(X, W, padding=3),
    "data_format": lambda: ours.conv(X, W, data_format=1),
    "filter_sizes": lambda: ours.conv_filter_gradient(X, (3, 3, 4, 6.0), DY),
    "input_sizes": lambda: ours.conv_input_gradient((2, 5, 5, 2**70), W, DY),
    "filter": lambda: ours.conv(X, W.astype(np.float64)),
    "out_backprop": lambda: ours.conv_filter_gradient(X, W.shape, DY.astype(np.float64)),
    "dtype": lambda: ours.conv(X.astype(np.complex64), W.astype(np.complex64)),
}


@pytest.mark.parametrize("rule", WRONG)
def test_a_wrong_call_is_refused_by_its_rule_when_traced(rule):
    shapes = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in (X, W, DY)]
    with pytest.raises(errors.ConvgradError) as refusal:
        jax.eval_shape(WRONG[rule], *shapes)
    assert refusal.value.rule == rule
    assert refusal.value.argument in str(refusal.value) and refusal.value.got in str(refusal.value)
    with pytest.raises(type(refusal.value)):
        WRONG[rule](X, W, DY)


@pytest.mark.parametrize("argument", WRONG_TYPE)
def test_a_wrong_type_is_a_type_error(argument):
    with pytest.raises(TypeError) as refusal:
        WRONG_TYPE[argument]()
    assert refusal.value.argument == argument


def test_a_tensor_too_large_is_a_memory_error():
    with pytest.raises(MemoryError) as refusal:
        jax.eval_shape(lambda x, w: ours.conv(x, w, padding=[(2**19, 2**19)] * 2), X, W)
    assert isinstance(refusal.value, errors.ResourceExhaustedError)


def test_a_size_that_is_traced_is_refused():
    with pytest.raises(TypeError):
        jax.jit(lambda n: ours.conv_filter_gradient(X, (n, 3, 4, 6), DY))(jnp.int32(3))

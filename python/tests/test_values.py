"""Every op against its definition, in every element type and layout."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import definition
from convgrad import conv_gradients, nn, raw_ops
from definition import Window, integers
from problems import windows

DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
LAST = {2: "NHWC", 3: "NDHWC"}
FIRST = {2: "NCHW", 3: "NCDHW"}


def full(numbers: tuple[int, ...]) -> list[int]:
    return [1, *numbers, 1]


def pairs(window: Window) -> list[tuple[int, int]]:
    return [(0, 0), *window.pads, (0, 0)]


def results(rank: int, window: Window, dtype: type) -> list[tuple[np.ndarray, np.ndarray]]:
    """(ours, by definition) for the forward op and both gradients."""
    x = integers((2, *window.input, 2), 1)
    w = integers((*window.filter, 2, 3), 2)
    dy = integers((2, *window.output(), 3), 3)
    a, b, c = (array.astype(dtype) for array in (x, w, dy))
    steps, holes, pads, name = full(window.strides), full(window.dilations), pairs(window), LAST[rank]
    conv = {2: nn.conv2d, 3: nn.conv3d}[rank]
    filter_gradient = {2: nn.conv2d_backprop_filter, 3: nn.conv3d_backprop_filter}[rank]
    transpose = {2: nn.conv2d_transpose, 3: nn.conv3d_transpose}[rank]
    return [
        (conv(a, b, steps, pads, name, holes), definition.forward(x, w, window)),
        (
            filter_gradient(a, w.shape, c, steps, pads, data_format=name, dilations=holes),
            definition.filter_gradient(x, dy, window),
        ),
        (transpose(c, b, x.shape, steps, pads, name, holes), definition.input_gradient(w, dy, window)),
    ]


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_all_directions_equal_their_definition(rank: int, dtype: type, data: st.DataObject) -> None:
    for got, wanted in results(rank, data.draw(windows(rank)), dtype):
        assert got.dtype == dtype
        assert got.shape == wanted.shape
        assert (got.astype(object) == wanted).all()


@pytest.mark.parametrize("rank", [2, 3])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_channels_first_is_a_transposition(rank: int, data: st.DataObject) -> None:
    window = data.draw(windows(rank))
    x, dy = integers((1, *window.input, 2), 1), integers((1, *window.output(), 3), 2)
    to_first = (0, rank + 1, *range(1, rank + 1))
    function = {2: nn.conv2d_backprop_filter, 3: nn.conv3d_backprop_filter}[rank]
    got = function(
        x.transpose(to_first).astype(np.float32),
        (*window.filter, 2, 3),
        dy.transpose(to_first).astype(np.float32),
        [1, 1, *window.strides],
        [(0, 0), (0, 0), *window.pads],
        data_format=FIRST[rank],
        dilations=[1, 1, *window.dilations],
    )
    assert (got == definition.filter_gradient(x, dy, window)).all()


@settings(max_examples=20, deadline=None)
@given(window=windows(2))
def test_one_call_gives_the_bits_of_three(window: Window) -> None:
    x, w = np.float32(integers((2, *window.input, 2), 1)), np.float32(integers((*window.filter, 2, 3), 2))
    dy = np.float32(integers((2, *window.output(), 3), 3))
    steps, holes, pads = full(window.strides), full(window.dilations), pairs(window)
    dx, dw, db = conv_gradients(x, w, dy, steps, pads, dilations=holes)
    assert (dx == nn.conv2d_backprop_input(x.shape, w, dy, steps, pads, dilations=holes)).all()
    assert (dw == nn.conv2d_backprop_filter(x, w.shape, dy, steps, pads, dilations=holes)).all()
    assert (db == dy.sum((0, 1, 2))).all()


@pytest.mark.parametrize("data_format", [None, "NWC", "NCW"])
def test_signals_get_all_gradients_too(data_format: str | None) -> None:
    """A signal is an image of one row."""
    x, w, dy = (np.float32(integers(shape, k)) for k, shape in enumerate([(2, 9, 4), (3, 2, 6), (2, 5, 6)]))
    wanted = conv_gradients(x[:, None], w[None], dy[:, None], (1, 2), dilations=(1, 3))
    first = data_format == "NCW"
    given = (np.moveaxis(x, 2, 1), w, np.moveaxis(dy, 2, 1)) if first else (x, w, dy)
    dx, dw, db = conv_gradients(*given, strides=2, data_format=data_format, dilations=3)
    assert ((np.moveaxis(dx, 1, 2) if first else dx) == wanted.input[:, 0]).all()
    assert (dw == wanted.filters[0]).all()
    assert (db == wanted.bias).all()


def test_int32_where_tensorflow_takes_it() -> None:
    x, w = integers((1, 5, 5, 2)).astype(np.int32), integers((3, 3, 2, 4), 1).astype(np.int32)
    window = Window((5, 5), (3, 3), (1, 1), (1, 1), definition.same_pads((5, 5), (3, 3), (1, 1)))
    y = raw_ops.Conv2D(input=x, filter=w, strides=[1, 1, 1, 1], padding="SAME")
    assert y.dtype == np.int32
    assert (y == definition.forward(x, w, window)).all()
    dx = raw_ops.Conv2DBackpropInput(input_sizes=x.shape, filter=w, out_backprop=y, strides=[1] * 4, padding="SAME")
    assert (dx == definition.input_gradient(w, y, window)).all()


def test_groups_by_the_filters_channels() -> None:
    x, w = np.float32(integers((1, 5, 5, 4))), np.float32(integers((3, 3, 2, 6), 1))
    y = nn.conv2d(x, w, 1, "VALID")
    halves = [nn.conv2d(x[..., :2], w[..., :3], 1, "VALID"), nn.conv2d(x[..., 2:], w[..., 3:], 1, "VALID")]
    assert (y == np.concatenate(halves, -1)).all()


def test_depthwise_is_a_convolution_of_each_channel() -> None:
    x, w = np.float32(integers((1, 5, 5, 3))), np.float32(integers((3, 3, 3, 2), 1))
    y = raw_ops.DepthwiseConv2dNative(input=x, filter=w, strides=[1, 1, 1, 1], padding="SAME")
    each = [nn.conv2d(x[..., c : c + 1], w[:, :, c : c + 1], 1, "SAME") for c in range(3)]
    assert (y == np.concatenate(each, -1)).all()
    dw = raw_ops.DepthwiseConv2dNativeBackpropFilter(
        input=x, filter_sizes=w.shape, out_backprop=y, strides=[1, 1, 1, 1], padding="SAME"
    )
    wanted = nn.conv2d_backprop_filter(x[..., :1], (3, 3, 1, 2), y[..., :2], [1, 1, 1, 1], "SAME")
    assert dw.shape == w.shape
    assert (dw[:, :, :1] == wanted).all()
    turned = np.ascontiguousarray(w.transpose(3, 2, 1, 0)).transpose(3, 2, 1, 0)
    again = raw_ops.DepthwiseConv2dNative(input=x, filter=turned, strides=[1, 1, 1, 1], padding="SAME")
    assert (again == y).all()
    dx, same = (
        raw_ops.DepthwiseConv2dNativeBackpropInput(
            input_sizes=x.shape, filter=of, out_backprop=y, strides=[1, 1, 1, 1], padding="SAME"
        )
        for of in (w, turned)
    )
    each = [
        nn.conv2d_backprop_input((1, 5, 5, 1), w[:, :, c : c + 1], y[..., 2 * c : 2 * c + 2], [1, 1, 1, 1], "SAME")
        for c in range(3)
    ]
    assert (dx == np.concatenate(each, -1)).all()
    assert (same == dx).all()


def test_the_gradient_of_a_shallow_volume() -> None:
    x = np.arange(1, 33, dtype=np.float32).reshape(2, 2, 2, 2, 2)
    dy = np.array([2856, 2992, 6952, 7344], np.float32).reshape(2, 1, 1, 1, 2)
    dw = nn.conv3d_backprop_filter_v2(x, [2, 2, 2, 2, 2], dy, [1, 4, 3, 2, 1], "SAME")
    assert dw.ravel()[:4].tolist() == [121040, 127840, 130848, 138176]


def test_conv_transpose_takes_one_two_and_three_dimensions() -> None:
    one = nn.conv_transpose(np.ones((1, 4, 2), np.float32), np.ones((3, 5, 2), np.float32), [1, 8, 5], 2)
    assert one[0, :, 0].tolist() == [2, 2, 4, 2, 4, 2, 4, 2]
    two = nn.conv_transpose(np.ones((1, 4, 4, 2), np.float32), np.ones((3, 3, 5, 2), np.float32), [1, 8, 8, 5], 2)
    assert two[0, :, 3, 0].tolist() == [2, 2, 4, 2, 4, 2, 4, 2]
    volumes = np.ones((1, 4, 4, 4, 2), np.float32), np.ones((3, 3, 3, 5, 2), np.float32)
    three = nn.conv_transpose(*volumes, [1, 8, 8, 8, 5], 2)
    assert three[0, :, 3, 3, 0].tolist() == [2, 2, 4, 2, 4, 2, 4, 2]

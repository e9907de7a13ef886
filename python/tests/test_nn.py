"""TensorFlow's Python layer: forms of strides, dilations and padding, aliases, batch dimensions, out."""

from __future__ import annotations

import numpy as np
import pytest

import convgrad
from convgrad import errors, nn, raw_ops
from definition import integers

X = np.float32(integers((2, 6, 6, 2)))
W = np.float32(integers((3, 3, 2, 4), 1))


@pytest.mark.parametrize("strides", [2, [2], (2, 2), [1, 2, 2, 1], np.int32(2), np.array([2, 2])])
def test_strides_in_all_their_forms(strides: object) -> None:
    assert (nn.conv2d(X, W, strides, "SAME") == nn.conv2d(X, W, [1, 2, 2, 1], "SAME")).all()


def test_channels_first_puts_the_strides_last() -> None:
    first = X.transpose(0, 3, 1, 2)
    y = nn.conv2d(first, W, [2, 1], "VALID", "NCHW")
    assert (y.transpose(0, 2, 3, 1) == nn.conv2d(X, W, [1, 2, 1, 1], "VALID")).all()


def test_a_volume_takes_padding_as_pairs() -> None:
    x, w = np.float32(integers((1, 3, 4, 5, 2))), np.float32(integers((2, 2, 2, 2, 3), 1))
    pads = [(0, 0), (1, 0), (0, 1), (2, 2), (0, 0)]
    padded = np.pad(x, pads)
    assert (nn.conv3d(x, w, 1, pads) == nn.conv3d(padded, w, 1, "VALID")).all()


def test_filter_and_filters_are_one_argument() -> None:
    dy = nn.conv2d(X, W, 1, "SAME")
    dx = nn.conv2d_backprop_input(X.shape, filters=W, out_backprop=dy, strides=[1, 1, 1, 1], padding="SAME")
    assert (dx == nn.conv2d_backprop_input(X.shape, W, dy, [1, 1, 1, 1], "SAME")).all()
    with pytest.raises(errors.InvalidArgumentError, match="got both") as refusal:
        nn.conv2d_backprop_input(X.shape, W, dy, [1, 1, 1, 1], "SAME", filters=W)
    assert refusal.value.argument == "filters"


@pytest.mark.parametrize("one", [2, np.int64(2), np.array(2, np.int32), [2], np.array([2])])
def test_one_stride_is_that_of_every_spatial_dimension(one: object) -> None:
    assert (nn.conv2d(X, W, one, "SAME") == nn.conv2d(X, W, [1, 2, 2, 1], "SAME")).all()


@pytest.mark.parametrize(
    ("output_shape", "got"), [(6, "an object of type int"), ([1, 6], "2 entries"), ([], "0 entries")]
)
def test_a_transposed_convolution_without_a_shape_to_go_by(output_shape: object, got: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        nn.conv_transpose(X, W, output_shape, 1)
    assert (refusal.value.argument, refusal.value.got) == ("output_shape", got)
    assert str(refusal.value).startswith(f"output_shape: got {got}, wanted ")


@pytest.mark.parametrize("batch", [(1, 2), (2, 1, 1)])
def test_more_batch_dimensions_are_kept(batch: tuple[int, ...]) -> None:
    y = nn.conv2d(X.reshape(*batch, 6, 6, 2), W, 1, "SAME")
    assert y.shape == (*batch, 6, 6, 4)
    assert (y.reshape(2, 6, 6, 4) == nn.conv2d(X, W, 1, "SAME")).all()


@pytest.mark.parametrize("padding", ["EXPLICIT", [[0, 0], [1, 1], [1, 1]], [[0, 0], [1, -1], [1, 1], [0, 0]], "same"])
def test_padding_that_has_no_meaning(padding: object) -> None:
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        nn.conv2d(X, W, 1, padding)
    assert refusal.value.rule in ("padding-list", "padding-name")


def test_padding_of_triples_is_a_wrong_type() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="pairs"):
        nn.conv2d(X, W, 1, [[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0]])


@pytest.mark.parametrize("strides", [[1, 2, 3], [], [1, 2, 2, 1, 1]])
def test_strides_of_a_wrong_length(strides: list[int]) -> None:
    with pytest.raises(ValueError, match="strides"):
        nn.conv2d(X, W, strides, "SAME")


def test_a_scalar_stride_is_not_for_the_gradients() -> None:
    with pytest.raises(ValueError, match="strides"):
        nn.conv2d_backprop_filter(X, W.shape, X, 1, "SAME")


def test_out_is_written_and_returned() -> None:
    out = np.full((2, 6, 6, 4), 9, np.float32)
    assert nn.conv2d(X, W, 1, "SAME", out=out) is out
    assert (out == nn.conv2d(X, W, 1, "SAME")).all()


def test_out_of_any_strides() -> None:
    memory = np.zeros((4, 6, 6, 2), np.float32)
    out = memory.transpose(3, 1, 2, 0)[:, ::-1]
    nn.conv2d(X, W, 1, "SAME", out=out)
    assert (out == nn.conv2d(X, W, 1, "SAME")).all()


def test_none_is_an_attributes_default() -> None:
    y = nn.conv2d(X, W, 1, "SAME", data_format=None, dilations=None)
    assert (y == nn.conv2d(X, W, 1, "SAME")).all()
    call = {"input": X, "filter_sizes": W.shape, "out_backprop": y, "strides": [1, 1, 1, 1], "padding": "SAME"}
    none = {"use_cudnn_on_gpu": None, "explicit_paddings": None, "data_format": None, "dilations": None}
    assert (raw_ops.Conv2DBackpropFilter(**call, **none) == raw_ops.Conv2DBackpropFilter(**call)).all()


def test_name_is_taken_and_not_used() -> None:
    assert nn.conv2d(X, W, 1, "SAME", name="layer").shape == (2, 6, 6, 4)


def test_batches_are_written_where_out_says_or_it_is_refused() -> None:
    x = np.random.default_rng(0).random((2, 3, 4, 4, 1), np.float32)
    one = np.ones((1, 1, 1, 1), np.float32)
    out = np.zeros((2, 3, 4, 4, 2), np.float32)[..., ::2]
    assert nn.conv2d(x, one, 1, "SAME", out=out) is out
    assert (out == x).all()
    across = np.zeros((3, 2, 4, 4, 1), np.float32).transpose(1, 0, 2, 3, 4)
    for other in (across, np.zeros((3, 2, 4, 4, 1), np.float32), np.zeros((6, 4, 4, 1), np.float32)):
        with pytest.raises(errors.ArgumentTypeError) as refusal:
            nn.conv2d(x, one, 1, "SAME", out=other)
        assert refusal.value.argument == "out"
        assert not other.any()


@pytest.mark.parametrize("strides", [np.array(1), np.int8(1), np.array([1, 1]), range(1, 2)])
def test_strides_as_arrays(strides: object) -> None:
    assert (nn.conv2d(X, W, strides, "SAME") == nn.conv2d(X, W, 1, "SAME")).all()


@pytest.mark.parametrize("given", [{"strides": []}, {"dilations": ()}, {"data_format": ""}])
def test_nothing_is_no_default(given: dict[str, object]) -> None:
    with pytest.raises(errors.ArgumentTypeError) as refusal:
        convgrad.conv_gradients(X, W, X, **given)
    assert [refusal.value.argument] == list(given)

"""Refusals: their classes, their parts, and that they can be pickled."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import convgrad
from convgrad import errors, nn, raw_ops

X = np.ones((1, 4, 4, 1), np.float32)
PROBLEM = "n1c1h4w4_k1r3s3_same_f32_filter_grad"


def call(**changes: object) -> np.ndarray:
    arguments = {"input": X, "filter_sizes": [3, 3, 1, 1], "out_backprop": X, "strides": [1, 1, 1, 1]}
    return raw_ops.Conv2DBackpropFilter(**{**arguments, "padding": "SAME", **changes})


@pytest.mark.parametrize(
    ("changes", "argument", "rule"),
    [
        ({"strides": [1, 0, 1, 1]}, "strides", "stride-range"),
        ({"strides": [1, 1, 1]}, "strides", "stride-length"),
        ({"padding": "FULL"}, "padding", "padding-name"),
        ({"data_format": "HWCN"}, "data_format", "format-name"),
        ({"dilations": [1, 1, 1, 2]}, "dilations", "dilation-nc"),
        ({"filter_sizes": [3, 3, 1]}, "filter_sizes", "size-vector-length"),
        ({"filter_sizes": 3}, "filter_sizes", "size-vector-rank"),
        ({"filter_sizes": [[3, 3], [1, 1]]}, "filter_sizes", "size-vector-rank"),
        ({"filter_sizes": [3, 3, 1, -1]}, "filter_sizes", "negative-dim"),
        ({"explicit_paddings": [0] * 8}, "explicit_paddings", "padding-list"),
        ({"filter_sizes": [3, 3, 1, 2**62]}, "filter_sizes", "overflow"),
        ({"input": X[0]}, "input", "rank"),
    ],
)
def test_an_invalid_argument_is_named(changes: dict[str, object], argument: str, rule: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        call(**changes)
    error = refusal.value
    assert isinstance(error, ValueError)
    assert (error.argument, error.rule) == (argument, rule)
    assert error.got in str(error) and error.wanted in str(error)


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"strides": [1, 1.5, 1, 1]}, "strides"),
        ({"strides": "1111"}, "strides"),
        ({"strides": None}, "strides"),
        ({"padding": 3}, "padding"),
        ({"padding": b"SAME"}, "padding"),
        ({"padding": [[0, 0]] * 4}, "padding"),
        ({"data_format": 4}, "data_format"),
        ({"filter_sizes": [3.0, 3.0, 1.0, 1.0]}, "filter_sizes"),
        ({"filter_sizes": [3, 3, 1, float("nan")]}, "filter_sizes"),
        ({"filter_sizes": [3, 3, 1, None]}, "filter_sizes"),
        ({"filter_sizes": [3, 3, 1, 2**70]}, "filter_sizes"),
        ({"input": None}, "input"),
        ({"input": "x"}, "input"),
        ({"input": object()}, "input"),
    ],
)
def test_a_wrong_type_is_a_type_error_with_the_sentence(changes: dict[str, object], argument: str) -> None:
    with pytest.raises(TypeError, match=argument) as refusal:
        call(**changes)
    assert isinstance(refusal.value, errors.InvalidArgumentError)
    assert refusal.value.argument == argument
    assert refusal.value.got


class Interrupted:
    def __index__(self) -> int:
        raise KeyboardInterrupt


@pytest.mark.parametrize("argument", ["filter_sizes", "strides", "dilations"])
def test_an_interrupt_in_an_index_is_none_of_our_sentences(argument: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        call(**{argument: [Interrupted()] * 4})


@pytest.mark.parametrize(
    ("call_it", "argument"),
    [
        (lambda: convgrad.set_num_threads("2"), "threads"),  # type: ignore[arg-type]
        (lambda: convgrad.set_num_threads(1.5), "threads"),  # type: ignore[arg-type]
        (lambda: convgrad.set_num_threads(2**70), "threads"),
        (lambda: convgrad.show_config("dict"), "mode"),
        (lambda: convgrad.Plan(None), "problem"),  # type: ignore[arg-type]
        (lambda: convgrad.Plan(PROBLEM, engine=5), "engine"),  # type: ignore[arg-type]
        (lambda: convgrad.Plan(PROBLEM, math=None), "math"),  # type: ignore[arg-type]
        (lambda: convgrad.Plan(PROBLEM, gpu="x"), "gpu"),  # type: ignore[arg-type]
        (lambda: convgrad.Plan(PROBLEM, gpu=2**40), "gpu"),
        (lambda: convgrad.explain(None), "problem"),  # type: ignore[arg-type]
        (lambda: nn.conv2d(X, X[:, :1, :1], {1}, "SAME"), "strides"),
        (lambda: nn.conv2d(X, X[:, :1, :1], 1, "SAME", dilations=b"\1"), "dilations"),
        (lambda: nn.conv_transpose(X, X[:, :1, :1], 5, 1), "output_shape"),
        (lambda: nn.conv_transpose(X, X[:, :1, :1], None, 1), "output_shape"),
        (lambda: nn.conv_transpose(X, X[:, :1, :1], [1, 4, 4, 1], 1, "SAME", 0), "data_format"),  # type: ignore[arg-type]
        (lambda: convgrad.conv_gradients(X, X[:, :1, :1], X, data_format=0), "data_format"),  # type: ignore[arg-type]
        (lambda: call(input=[[1.0], [1.0, 2.0]]), "input"),
        (lambda: raw_ops.AddN(inputs=5), "inputs"),  # type: ignore[arg-type]
        (lambda: raw_ops.Cast(x=[1.0], DstT=None), "DstT"),
        (lambda: raw_ops.Cast(x=[1.0], DstT=5), "DstT"),
    ],
)
def test_every_face_refuses_by_name(call_it: Callable[[], object], argument: str) -> None:
    with pytest.raises(errors.ArgumentTypeError) as refusal:
        call_it()
    assert refusal.value.argument == argument
    assert refusal.value.got and refusal.value.wanted and refusal.value.rule


def test_a_sentence_is_whole_with_a_null_byte_and_with_characters_of_two() -> None:
    for name in ("a\0b", "\xe9" * 39 + "a", "a" + "\xe9" * 39):
        with pytest.raises(errors.InvalidArgumentError, match="wanted") as refusal:
            call(data_format=name)
        assert refusal.value.got.strip('"') == name.encode()[:40].decode(errors="ignore")


@pytest.mark.parametrize(
    "changes",
    [
        {"padding": "SAME\0"},
        {"data_format": "NHWC\0"},
        {"strides": [1, 1, 1, 1, 1]},
        {"filter_sizes": [3, 3, 1]},
        {"filter_sizes": [[3, 3, 1, 1]]},
        {"explicit_paddings": [0] * 100},
        {"strides": [1, 1, 1, 1, 1, 1, 1, 1] * 20},
        {"out_backprop": X.astype(np.float64)},
        {"input": X.reshape(1, 4, 2, 2)},
    ],
)
def test_a_legal_call_before_makes_no_other_legal(changes: dict[str, object]) -> None:
    for _ in range(2):
        assert call().shape == (3, 3, 1, 1)
        with pytest.raises(errors.InvalidArgumentError):
            call(**changes)


def test_a_plan_is_found_again_for_its_own_threads_only() -> None:
    try:
        for threads in (1, 2, 1, 0):
            convgrad.set_num_threads(threads)
            assert call().ravel().tolist() == [9, 12, 9, 12, 16, 12, 9, 12, 9]
    finally:
        convgrad.set_num_threads(0)


def test_too_much_memory_is_a_memory_error() -> None:
    with pytest.raises(MemoryError) as refusal:
        raw_ops.Conv2DBackpropInput(
            input_sizes=[1, 2**19, 2**19, 1],
            filter=np.ones((1, 1, 1, 1), np.float32),
            out_backprop=np.ones((1, 1, 1, 1), np.float32),
            strides=[1, 2**19, 2**19, 1],
            padding="VALID",
        )
    assert isinstance(refusal.value, errors.ResourceExhaustedError)


def test_a_stride_over_the_batch_is_unimplemented_or_invalid_as_in_tensorflow() -> None:
    with pytest.raises((errors.UnimplementedError, errors.InvalidArgumentError)) as refusal:
        call(strides=[2, 1, 1, 1])
    assert refusal.value.rule == "stride-nc"


def test_an_engine_that_is_not_there_is_unimplemented() -> None:
    with pytest.raises(errors.UnimplementedError) as refusal:
        convgrad.Plan("n1c1h4w4_k1r3s3_same_f32_filter_grad", engine="none")
    assert isinstance(refusal.value, NotImplementedError)
    assert refusal.value.rule == "engine-name"


def test_an_unknown_keyword_is_pythons_own_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        call(groups=2)
    with pytest.raises(TypeError, match="missing"):
        raw_ops.Conv2D(input=X)
    with pytest.raises(TypeError, match="positional"):
        raw_ops.Conv2D(X, X)


def test_a_refusal_survives_pickling() -> None:
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        call(padding="FULL")
    again = pickle.loads(pickle.dumps(refusal.value))
    assert type(again) is type(refusal.value)
    assert (str(again), again.argument, again.rule) == (str(refusal.value), "padding", "padding-name")


@pytest.mark.parametrize("threads", [-1, 2000, 1.5, "two"])
def test_a_number_of_threads_that_is_none(threads: object) -> None:
    with pytest.raises(TypeError):
        convgrad.set_num_threads(threads)


@pytest.mark.parametrize("argument", ["strides", "dilations"])
def test_a_list_of_lists_is_no_list_of_integers(argument: str) -> None:
    x = np.ones((1, 4, 4, 1), np.float32)
    given: dict[str, Any] = {"strides": [1, 1, 1, 1], "dilations": [1, 1, 1, 1], argument: [[1, 1, 1, 1]]}
    with pytest.raises(TypeError, match="not a list of lists") as caught:
        raw_ops.Conv2D(input=x, filter=x, padding="SAME", **given)
    assert caught.value.argument == argument  # type: ignore[attr-defined]


def test_conv3d_has_no_default_strides() -> None:
    x = np.ones((1, 2, 2, 2, 1), np.float32)
    with pytest.raises(errors.InvalidArgumentError, match="strides"):
        nn.conv3d(x, x, None, "SAME")


def test_an_integer_beyond_32_bits_is_refused_and_not_wrapped() -> None:
    with pytest.raises(TypeError, match="beyond 32 bits"):
        raw_ops.Conv2D(
            input=[[[[2**40]]]], filter=np.ones((1, 1, 1, 1), np.int32), strides=[1, 1, 1, 1], padding="SAME"
        )


def test_a_number_beyond_the_type_is_refused_and_no_infinity() -> None:
    with np.errstate(over="ignore"), pytest.raises(TypeError, match="float32"):
        call(input=[[[[1e300]] * 4] * 4])


def depthwise_filter(**changed: Any) -> Any:
    given: dict[str, Any] = {"filter_sizes": [3, 3, 1, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
    return raw_ops.DepthwiseConv2dNativeBackpropFilter(input=X, out_backprop=X, **{**given, **changed})


@pytest.mark.parametrize(
    ("argument", "value", "got"),
    [
        ("filter_sizes", [3, 3, 2**40, 1], f"[3,3,{2**40},1]"),
        ("filter_sizes", [3, 3, 1], "3 entries [3,3,1]"),
        ("strides", [2, 1, 1, 1], "[2,1,1,1]"),
        ("strides", [1, 0, 1, 1], "[1,0,1,1]"),
    ],
)
def test_depthwise_ops_refuse_in_their_own_name(argument: str, value: list[int], got: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=r"^DepthwiseConv2dNativeBackpropFilter: ") as caught:
        depthwise_filter(**{argument: value})
    assert caught.value.argument == argument
    assert caught.value.got == got


def test_depthwise_and_plain_calls_of_the_same_numbers_are_two_plans() -> None:
    x = np.ones((1, 4, 4, 2), np.float32)
    with pytest.raises(errors.InvalidArgumentError, match="DepthwiseConv2dNative: "):
        raw_ops.DepthwiseConv2dNative(
            input=x, filter=np.ones((3, 3, 1, 2), np.float32), strides=[1, 1, 1, 1], padding="SAME"
        )
    y = raw_ops.Conv2D(input=x, filter=np.ones((3, 3, 1, 2), np.float32), strides=[1, 1, 1, 1], padding="SAME")
    assert y.shape == (1, 4, 4, 2)

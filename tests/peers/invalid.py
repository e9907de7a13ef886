"""Calls that break one rule, and the classes of error that TensorFlow's stock kernels answer with.

A mistake changes the arguments of a valid call; what TensorFlow answers is what is wanted, error class or value,
unless the mistake is in MEANT or OPEN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from problems import FUNCTIONS, OPS, Cell, Problem, call_of, make_layer, operands_of

Arguments = dict[str, Any]
Mistake = Callable[[Arguments], Arguments]


class Meant(NamedTuple):
    mistake: str  # how its name begins
    function: str  # what its path contains
    why: str


# Where our answer to a mistake is another than TensorFlow's, on purpose.
MEANT = [
    Meant("filter_sizes_int64", "", "sizes may be int64 everywhere; TensorFlow: in one of four gradients"),
    Meant("input_sizes_int64", "", "the same"),
    Meant("output_shape_int64", "", "the same"),
    Meant("filter_sizes_past_int32", "", "TensorFlow keeps 32 bits of the number and computes with those"),
    Meant("input_sizes_past_int32", "", "the same"),
    Meant("input_without_channels", "onv2d", "refused; TensorFlow refuses it in all but the forward 2-D op"),
    Meant("input_without_channels", "Conv2D", "the same"),
    Meant("input_none", "nn.", "a TypeError with a sentence; TensorFlow: AttributeError from inside"),
    Meant("data_format_number", "nn.", "the same"),
    Meant("padding_list", "conv3d", "volumes take lists of pairs too, so the list itself is judged, not its type"),
    Meant("dilations", "Depthwise", "the rules of Conv2D; TensorFlow's depthwise kernels read dilations late or never"),
]
# Differences that are not meant: to be mended in the package, then to be deleted here.
OPEN: list[Meant] = []


def changed(name: str, change: Callable[[Any], Any]) -> Mistake:
    """A mistake in one argument, of calls that have it."""

    def mistake(arguments: Arguments) -> Arguments:
        return {**arguments, name: change(arguments[name])} if name in arguments else {}

    return mistake


def put(place: int, value: Any) -> Callable[[list[Any]], list[Any]]:
    def change(numbers: list[Any]) -> list[Any]:
        copy = list(numbers)
        copy[place] = value
        return copy

    return change


def added(place: int, number: int) -> Callable[[list[int]], list[int]]:
    return lambda numbers: put(place, numbers[place] + number)(numbers)


def resized(axis: int, change: int) -> Callable[[np.ndarray], np.ndarray]:
    """A tensor of another size along one axis."""

    def change_size(array: np.ndarray) -> np.ndarray:
        shape = list(array.shape)
        shape[axis] += change
        return np.ones(shape, array.dtype)

    return change_size


def with_lists(padding: Any, paddings: Any) -> Mistake:
    """Of the 2-D raw ops: a name and a list that do not go together."""

    def mistake(arguments: Arguments) -> Arguments:
        if "filters" in arguments or len(arguments["strides"]) != 4:
            return {}
        return {**arguments, "padding": padding, "explicit_paddings": paddings}

    return mistake


def numbers_mistakes(name: str) -> dict[str, Mistake]:
    return {
        f"{name}_short": changed(name, lambda n: list(n)[:-1]),
        f"{name}_long": changed(name, lambda n: [*n, 1]),
        f"{name}_empty": changed(name, lambda n: []),
        f"{name}_zero": changed(name, put(1, 0)),
        f"{name}_negative": changed(name, put(2, -1)),
        f"{name}_in_batch": changed(name, put(0, 2)),
        f"{name}_in_channels": changed(name, put(-1, 2)),
        f"{name}_none": changed(name, lambda n: None),
        f"{name}_text": changed(name, lambda n: "1111"),
        f"{name}_of_texts": changed(name, lambda n: ["a"] * len(n)),
        f"{name}_past_int32": changed(name, put(1, 2**31)),
        f"{name}_nested": changed(name, lambda n: [list(n)]),
    }


def tensor_mistakes(name: str) -> dict[str, Mistake]:
    return {
        f"{name}_flat": changed(name, np.ravel),
        f"{name}_with_one_dimension_more": changed(name, lambda a: a[None]),
        f"{name}_with_one_dimension_less": changed(name, lambda a: a[0]),
        f"{name}_batch": changed(name, resized(0, 1)),
        f"{name}_channels": changed(name, resized(-1, 1)),
        f"{name}_depth": changed(name, resized(-2, 1)),
        f"{name}_rows": changed(name, resized(1, 1)),
        f"{name}_of_another_dtype": changed(name, lambda a: a.astype(np.float64)),
        f"{name}_of_int8": changed(name, lambda a: a.astype(np.int8)),
        f"{name}_of_bool": changed(name, lambda a: a.astype(bool)),
        f"{name}_of_complex": changed(name, lambda a: a.astype(np.complex64)),
        f"{name}_none": changed(name, lambda a: None),
        f"{name}_without_channels": changed(name, lambda a: a[..., :0]),
        f"{name}_without_depth": changed(name, lambda a: a[..., :0, :]),
    }


def sizes_mistakes(name: str) -> dict[str, Mistake]:
    return {
        f"{name}_short": changed(name, lambda n: n[:-1]),
        f"{name}_long": changed(name, lambda n: [*n, 1]),
        f"{name}_empty": changed(name, lambda n: []),
        f"{name}_negative": changed(name, put(1, -1)),
        f"{name}_zero": changed(name, put(1, 0)),
        f"{name}_batch": changed(name, added(0, 1)),
        f"{name}_rows": changed(name, added(1, 1)),
        f"{name}_channels": changed(name, added(-1, 1)),
        f"{name}_depth": changed(name, added(-2, 1)),
        f"{name}_huge": changed(name, put(1, 2**31 - 1)),
        f"{name}_past_int32": changed(name, put(1, 2**40)),
        f"{name}_scalar": changed(name, lambda n: 3),
        f"{name}_nested": changed(name, lambda n: [n]),
        f"{name}_of_reals": changed(name, lambda n: [float(v) for v in n]),
        f"{name}_int64": changed(name, lambda n: np.array(n, np.int64)),
        f"{name}_none": changed(name, lambda n: None),
    }


def pairs(count: int, length: int = 2, value: int = 1) -> list[list[int]]:
    return [[0] * length, *[[value] * length] * (count - 2), [0] * length]


MISTAKES: dict[str, Mistake] = {
    **numbers_mistakes("strides"),
    **numbers_mistakes("dilations"),
    **{k: v for name in ("input", "filter", "filters", "out_backprop") for k, v in tensor_mistakes(name).items()},
    **{k: v for name in ("input_sizes", "filter_sizes", "output_shape") for k, v in sizes_mistakes(name).items()},
    "padding_unknown": changed("padding", lambda p: "FULL"),
    "padding_in_lower_case": changed("padding", lambda p: "same"),
    "padding_empty": changed("padding", lambda p: ""),
    "padding_none": changed("padding", lambda p: None),
    "padding_number": changed("padding", lambda p: 1),
    "padding_explicit_without_a_list": changed("padding", lambda p: "EXPLICIT"),
    "padding_list_too_short": changed("padding", lambda p: pairs(3)),
    "padding_list_of_triples": changed("padding", lambda p: pairs(4, 3)),
    "padding_list_flat": changed("padding", lambda p: [0, 0, 1, 1, 1, 1, 0, 0]),
    "padding_list_negative": changed("padding", lambda p: pairs(4, 2, -1)),
    "padding_list_in_batch": changed("padding", lambda p: [[1, 0], [0, 0], [0, 0], [0, 0]]),
    "data_format_unknown": changed("data_format", lambda f: "NHCW"),
    "data_format_of_another_rank": changed("data_format", lambda f: "NHWC" if f == "NDHWC" else "NDHWC"),
    "data_format_empty": changed("data_format", lambda f: ""),
    "data_format_number": changed("data_format", lambda f: 3),
    "explicit_paddings_with_same": with_lists("SAME", [0, 0, 1, 1, 1, 1, 0, 0]),
    "explicit_paddings_with_valid": with_lists("VALID", [0, 0, 1, 1, 1, 1, 0, 0]),
    "explicit_paddings_short": with_lists("EXPLICIT", [0, 0, 1, 1]),
    "explicit_paddings_negative": with_lists("EXPLICIT", [0, 0, -1, 1, 1, 1, 0, 0]),
    "explicit_paddings_in_batch": with_lists("EXPLICIT", [1, 0, 1, 1, 1, 1, 0, 0]),
    "explicit_paddings_in_channels": with_lists("EXPLICIT", [0, 0, 1, 1, 1, 1, 0, 1]),
    "explicit_paddings_text": with_lists("EXPLICIT", "11"),
    "an_unknown_argument": lambda arguments: {**arguments, "stride": 1},
    "strides_missing": lambda arguments: {k: v for k, v in arguments.items() if k != "strides"},
    "nothing_wrong": lambda arguments: arguments,
}


def base_problems() -> Iterator[Problem]:
    """Small valid calls that TensorFlow's stock kernels take."""
    for name, op in OPS.items():
        shape: dict[str, Any] = {"N": 2, "Cin": 2, "Cout": 4, "spatial": [4, 5, 6][: op.rank], "kernel": [2, 3, 2]}
        shape["kernel"] = shape["kernel"][: op.rank]
        shape["groups"] = 2 if op.family == "depthwise" else 1
        for pad in ("SAME", "VALID"):
            layer = make_layer({**shape, "pad": pad})
            for function in (False, True) if name in FUNCTIONS else (False,):
                yield Problem(Cell(name, "f32", "last", False, layer.groups > 1), layer, function=function)


def invalid_calls() -> list[dict[str, Any]]:
    tasks = []
    for problem in base_problems():
        path, arguments = call_of(problem, operands_of(problem))
        for name, mistake in MISTAKES.items():
            wrong = mistake(arguments)
            if wrong:
                call = {"kind": "call", "path": path, "arguments": wrong}
                tasks.append({**call, "mistake": name, "pad": problem.padding})
    return tasks


def known(task: dict[str, Any], rows: list[Meant]) -> Meant | None:
    """The row that speaks of a call."""
    for row in rows:
        if task["mistake"].startswith(row.mistake) and row.function in task["path"]:
            return row
    return None


def disagreement(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> str:
    """What differs between two answers to one call; "" when nothing does."""
    if theirs[0] == "aborted":
        return "" if ours[0] == "error" else f"ours answers, TensorFlow dies of {theirs[1]}"
    if ours[0] == "error" and theirs[0] == "error":
        kind = theirs[1][0]
        return "" if kind in ours[1] else f"ours {ours[1][0]}: {ours[2]} | TensorFlow {kind}: {theirs[2]}"
    if ours[0] == "error":
        return f"ours {ours[1][0]}: {ours[2]} | TensorFlow answers {theirs[2].shape}"
    if theirs[0] == "error":
        return f"ours answers {ours[2].shape} | TensorFlow {theirs[1][0]}: {theirs[2]}"
    return "" if np.array_equal(ours[2], theirs[2]) else "the values differ"

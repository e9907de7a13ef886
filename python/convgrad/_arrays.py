"""What the calls take."""

from __future__ import annotations

from typing import Any

from ._core import integers

#: NumPy arrays of any strides and byte order, anything with ``__dlpack__`` (on a GPU too), nested lists of numbers.
Array = Any
#: Lists, tuples or arrays of integers.
Integers = Any

#: data_format by the number of spatial dimensions, where the caller says none.
FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def all_dimensions(argument: str, value: Any, rank: int, data_format: str | None) -> Integers:
    """One number, or one a spatial dimension, with ones for batch and channels; other lists as they are."""
    if value is None:
        return [1] * (rank + 2)
    numbers = list(value) if type(value) in (list, tuple) else integers(value, argument)
    if len(numbers) == 1:
        numbers = numbers * rank
    if len(numbers) != rank:
        return numbers
    return [1, 1, *numbers] if str(data_format).startswith("NC") else [1, *numbers, 1]

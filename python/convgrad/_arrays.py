"""What the calls take."""

from __future__ import annotations

from typing import Any

#: NumPy arrays of any strides and byte order, anything with ``__dlpack__``, nested lists of numbers.
Array = Any
#: Lists, tuples or arrays of integers.
Integers = Any

"""Random problems for the property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from definition import Window


@st.composite
def windows(draw: st.DrawFn, rank: int) -> Window:
    """A window that fits its input at least once."""

    def each(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    filter, strides, dilations = each(1, 3), each(1, 3), each(1, 2)
    pads = tuple((draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in range(rank))
    least = [max((f - 1) * d + 1 - sum(p), 1) for f, d, p in zip(filter, dilations, pads)]
    return Window(tuple(n + draw(st.integers(0, 3)) for n in least), filter, strides, dilations, pads)

"""A graph as inline SVG: a block a node, in columns by how many nodes it waits for, with shapes and values."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from ._arrays import Array

WIDTH, GAP_X, GAP_Y, LINE = 190, 60, 18, 15
STYLE = (
    "<style>.cg text{font:11px sans-serif;fill:#222}.cg .op{font-weight:bold}.cg rect{fill:#f4f6fb;stroke:#5b6b8c}"
    ".cg .value{fill:#0a6640}.cg path{fill:none;stroke:#5b6b8c}</style>"
)


def picture(nodes: list[dict[str, Any]], values: Mapping[str, Array]) -> str:
    """The blocks and wires; ``values`` by the outputs' names ("node:0") are written into the blocks."""
    lines = {node["name"]: _lines(node, values) for node in nodes}
    places = _places(nodes, lines)
    wires = "".join(_wire(places[source], places[node["name"]]) for node in nodes for source, _ in node["inputs"])
    blocks = "".join(_block(places[name], texts) for name, texts in lines.items())
    right = max((x + WIDTH for x, _, _ in places.values()), default=0) + 1
    bottom = max((y + height for _, y, height in places.values()), default=0) + 1
    size = f'width="{right}" height="{bottom}" viewBox="0 0 {right} {bottom}"'
    svg = f'<svg class="cg" xmlns="http://www.w3.org/2000/svg" {size}>{STYLE}{wires}{blocks}</svg>'
    return f'<div style="overflow-x: auto">{svg}</div>'


def _lines(node: dict[str, Any], values: Mapping[str, Array]) -> list[tuple[str, str]]:
    """(CSS class, text) of a block's lines."""
    lines = [("op", node["op"]), ("name", node["name"])]
    for index, (pin, dtype, shape) in enumerate(node["outputs"]):
        sizes = "?" if shape is None else ", ".join("?" if size is None else str(size) for size in shape)
        lines.append(("shape", f"{pin}: {dtype}[{sizes}]"))
        value = values.get(f"{node['name']}:{index}", node["attrs"].get("value"))
        if value is not None:
            lines.append(("value", _few(value)))
    return lines


def _few(value: Array) -> str:
    flat = value.ravel()
    numbers = " ".join(f"{float(number):.4g}" for number in flat[:4])
    return numbers + (" ..." if flat.size > 4 else "")


def _places(nodes: list[dict[str, Any]], lines: Mapping[str, list[Any]]) -> dict[str, tuple[int, int, int]]:
    """x, y and height of every block; nodes come after what they read."""
    column: dict[str, int] = {}
    bottom: dict[int, int] = {}
    places = {}
    for node in nodes:
        name = node["name"]
        column[name] = 1 + max((column[source] for source, _ in node["inputs"]), default=-1)
        y = bottom.get(column[name], 0)
        height = LINE * len(lines[name]) + 8
        places[name] = (1 + column[name] * (WIDTH + GAP_X), y + 1, height)
        bottom[column[name]] = y + height + GAP_Y
    return places


def _block(place: tuple[int, int, int], lines: list[tuple[str, str]]) -> str:
    x, y, height = place
    texts = "".join(
        f'<text class="{kind}" x="{x + 8}" y="{y + LINE * (row + 1)}">{html.escape(_short(text))}</text>'
        for row, (kind, text) in enumerate(lines)
    )
    return f'<g><rect x="{x}" y="{y}" width="{WIDTH}" height="{height}" rx="5"/>{texts}</g>'


def _short(text: str) -> str:
    return text if len(text) <= 30 else text[:29] + "\N{HORIZONTAL ELLIPSIS}"


def _wire(source: tuple[int, int, int], target: tuple[int, int, int]) -> str:
    x1, y1 = source[0] + WIDTH, source[1] + source[2] // 2
    x2, y2 = target[0], target[1] + target[2] // 2
    bend = max(30, (x2 - x1) // 2)
    return f'<path d="M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"/>'

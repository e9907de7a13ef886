"""Graphs of ops: build, load, save, differentiate and run them.

>>> from convgrad.graph import Graph
>>> g = Graph()
>>> x = g.Placeholder(dtype="float", shape=[None, 4, 4, 1])
>>> y = g.Conv2D(x, np.ones((3, 3, 1, 1), np.float32), strides=[1, 1, 1, 1], padding="SAME")
>>> (dx,) = g.gradients([y], [x])
>>> g.run(dx, {x: np.ones((1, 4, 4, 1), np.float32)})

An op is a method by its name in the op table (``dir(g)`` lists them): inputs by position or by the name of their pin,
attributes by keywords. Arrays and numbers among the inputs become constants.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

from . import _core
from ._arrays import Array
from ._core import Output
from ._picture import picture
from ._progress import Teller, teller
from .errors import refusal

__all__ = ["Graph", "Output", "infer", "load", "parse"]

Fetches = Union[Output, Sequence[Output]]
_OPS: dict[str, dict[str, Any]] = {op["name"]: op for op in json.loads(_core.ops_json())["ops"]}


class Graph:
    """Nodes of the op table's ops, and variables that keep their values between runs."""

    def __init__(self, core: _core.Graph | None = None) -> None:
        self._core = core if core is not None else _core.Graph()
        self._values: dict[Output, Array] = {}

    def __getattr__(self, op: str) -> Callable[..., Any]:
        if op not in _OPS:
            raise AttributeError(f"there is no op {op!r}; dir() lists them")
        return lambda *inputs, name="", **arguments: self.add(op, *inputs, name=name, **arguments)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *_OPS]

    def add(self, op: str, /, *inputs: Output | Array, name: str = "", **arguments: Any) -> Any:
        """Adds a node and gives its output, or a tuple where the op has several."""
        spec = _OPS.get(op, {"inputs": [], "attrs": []})
        given = list(inputs)
        for index, pin in enumerate(spec["inputs"]):
            if pin["name"] not in arguments:
                continue
            if index != len(given):
                missing = spec["inputs"][len(given)]["name"] if index > len(given) else ""
                problem = f"{pin['name']} without {missing}" if missing else f"{pin['name']} twice"
                raise refusal(pin["name"], problem, f"each input of {op} once, by position or by its name")
            value = arguments.pop(pin["name"])
            given += _inputs(value, pin)
        outputs = self._core.add(op, name, given, arguments)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def Const(self, value: Array, name: str = "") -> Output:
        """A constant of the value's own type; Python's numbers are float32 and int32, as in TensorFlow."""
        return self._core.add("Const", name, [], {"value": value})[0]

    def gradients(self, outputs: Fetches, inputs: Fetches, grad_outputs: Sequence[Output] = ()) -> list[Output | None]:
        """Adds d(sum of grad_outputs * outputs) / d inputs, with ones for grad_outputs left out."""
        return self._core.gradients(_listed(outputs), _listed(inputs), grad_outputs)

    def run(
        self,
        fetches: Fetches | None = None,
        feeds: Mapping[Output, Array] | None = None,
        *,
        progress: bool | Teller | None = None,
    ) -> Any:
        """The values of fetches, or of all that the page fetches. Ctrl-C ends the run.

        ``progress=True`` shows a bar (tqdm's where it is installed); a function is called with the node's name, how
        many are done of how many, and the seconds that it took.
        """
        wanted = _listed(self._core.fetched() if fetches is None else fetches)
        with teller(progress) as tell:
            values = self._core.run(wanted, dict(feeds) if isinstance(feeds, Mapping) else feeds or {}, tell)
        self._values.update(zip(wanted, values))
        return values[0] if isinstance(fetches, Output) else values

    def output(self, name: str) -> Output:
        """The output "node" or "node:1"."""
        node, _, index = name.rpartition(":") if isinstance(name, str) and ":" in name else (name, "", "0")
        outputs = self._core.outputs_of(node)
        if not index.isdecimal() or int(index) >= len(outputs):
            raise refusal("name", name, f"a number from 0 to {len(outputs) - 1} behind the colon")
        return outputs[int(index)]

    def nodes(self) -> list[dict[str, Any]]:
        """Name, op, inputs, outputs (pin, dtype, shape as far as it is known) and attributes of every node."""
        return self._core.nodes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph as a page file; tensors of more than 64 elements go to .npy files beside it."""
        self._core.save(path)

    def text(self) -> str:
        """The graph as a page file's text."""
        return self._core.text()

    def code(self, style: str = "python") -> str:
        """The graph as a program: "python", "tensorflow", "cpp", "cpp_eager" or "graphviz"."""
        return self._core.code(style)

    def __repr__(self) -> str:
        return f"<convgrad.Graph of {len(self.nodes())} nodes>"

    def _repr_html_(self) -> str:
        return picture(self.nodes(), {output.name: value for output, value in self._values.items()})


def load(path: str | os.PathLike[str]) -> Graph:
    """The graph of a page file."""
    return Graph(_core.load_graph(path))


def parse(text: str) -> Graph:
    """The graph of a page file's text."""
    return Graph(_core.parse_graph(text))


def infer(text: str) -> list[tuple[str, str, list[tuple[str, Any]]]]:
    """What is known of a page's nodes, right or wrong: (id, its refusal or "", [(dtype, shape), ...])."""
    return _core.infer_page(text)


def _inputs(value: Any, pin: Mapping[str, Any]) -> list[Any]:
    if pin.get("list") and not isinstance(value, Iterable):
        raise refusal(pin["name"], f"an object of type {type(value).__name__}", "a list")
    return list(value) if pin.get("list") else [value]


def _listed(fetches: Fetches) -> Sequence[Output]:
    return [fetches] if isinstance(fetches, Output) else list(fetches) if isinstance(fetches, Iterable) else fetches

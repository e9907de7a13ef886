from collections.abc import Sequence
import os
from typing import Any


def version() -> str: ...

def set_num_threads(threads: int) -> None:
    """
    Threads of the calls that follow; 0: one a core that this process may use.
    """

def get_num_threads() -> int:
    """What set_num_threads() last got."""

def config() -> dict[str, Any]:
    """What convgrad is and what it found here."""

def eager_ops() -> list[str]:
    """The convolution ops that are computed without a graph."""

def tensor_arguments(op: str) -> list[str]:
    """Tensors and sizes of an op, in TensorFlow's order."""

def rank(op: str) -> int:
    """Spatial dimensions of an op."""

def data_format(op: str) -> str:
    """An op's data_format where the caller says none."""

def integers(value: object, argument: str, /) -> list[int]:
    """
    A number, list or array of integers as a list; what is none is refused by the argument's name.
    """

def conv(op: str, first: object, second: object, sizes: object, strides: object, padding: object, explicit_paddings: object, data_format: object, dilations: object, out: object, /) -> Any:
    """
    A convolution op. With explicit_paddings of None, padding is a name or a list of pairs.
    """

def conv_gradients(input: object, filters: object, out_backprop: object, strides: object, padding: object, data_format: object, dilations: object, /) -> tuple[Any, ...]:
    """dx, dw and db of a convolution layer."""

class Plan:
    def __init__(self, what: object, engine: str = '', math: str = 'standard', gpu: int | None = None) -> None: ...

    def __call__(self, first: object, second: object = None, out: object = None) -> Any: ...

    @property
    def problem(self) -> str: ...

    @property
    def operands(self) -> dict[str, tuple[int, ...]]: ...

    @property
    def result_shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> Any: ...

    @property
    def engine(self) -> str: ...

    @property
    def kernel(self) -> str: ...

    @property
    def math(self) -> str: ...

    @property
    def why(self) -> str: ...

    @property
    def workspace_bytes(self) -> int: ...

    @property
    def cost_us(self) -> float: ...

def explain(what: object) -> str: ...

class BufferPlan:
    """A problem string's plan over buffers, each (address, bytes)."""

    def __init__(self, problem: str, gpu: int | None = None) -> None: ...

    @property
    def result_shape(self) -> list[int]: ...

    @property
    def workspace_bytes(self) -> int: ...

    def run(self, first: tuple[int, int], second: tuple[int, int], result: tuple[int, int], threads: int) -> None: ...

    def enqueue(self, first: tuple[int, int], second: tuple[int, int], result: tuple[int, int], workspace: tuple[int, int], stream: int) -> None: ...

class Output:
    """One output of a node."""

    @property
    def name(self) -> str: ...

    @property
    def node(self) -> str: ...

    @property
    def op(self) -> str: ...

    @property
    def dtype(self) -> str: ...

    @property
    def shape(self) -> object: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

class Graph:
    """Nodes, and a session whose variables live as long."""

    def __init__(self) -> None: ...

    def add(self, op: str, name: str | None, inputs: Sequence[object], attrs: dict[str, object], /) -> list[Output]: ...

    def gradients(self, outputs: Sequence[Output], inputs: Sequence[Output], grad_outputs: Sequence[Output], /) -> list[Output | None]: ...

    def run(self, fetches: Sequence[Output], feeds: dict[Output, object], progress: object, /) -> list[Any]: ...

    def fetched(self) -> list[Output]: ...

    def nodes(self) -> list[dict[str, Any]]: ...

    def outputs_of(self, node: str, /) -> list[Output]: ...

    def text(self) -> str: ...

    def save(self, path: str | bytes | os.PathLike[str]) -> None: ...

    def code(self, style: str) -> str: ...

def load_graph(path: str | bytes | os.PathLike[str]) -> Graph: ...

def parse_graph(text: str) -> Graph: ...

def infer_page(text: str, /) -> list[tuple[str, str, list[tuple[str, Any]]]]: ...

def op(name: str, inputs: Sequence[object], /, **attrs: object) -> list[Any]:
    """One op of the table, run and forgotten."""

def ops_json() -> str:
    """The op table as JSON."""

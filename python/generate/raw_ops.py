"""Prints convgrad/raw_ops.py from the library's op table: python generate/raw_ops.py > convgrad/raw_ops.py."""

from __future__ import annotations

import json
from typing import Any

from convgrad import _core

LINE = 120
GRAPH_ONLY = ("Const", "Placeholder")  # a place for a value has none to give
TYPES = {"list(int)": "Integers", "string": "str", "bool": "bool", "int": "int", "float": "float", "type": "Any"}

HEAD = '''"""TensorFlow's raw ops over arrays: keywords only, with the arguments and defaults of tf.raw_ops.

Made from the op table by python/generate/raw_ops.py; a test compares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ._arrays import Array, Integers
from ._core import conv as _conv
from ._core import op as _op
'''


def is_eager(op: dict[str, Any]) -> bool:
    """Whether the library computes it without a graph."""
    return op["name"] in _core.eager_ops()


def written_attrs(op: dict[str, Any]) -> list[dict[str, Any]]:
    """The attributes that a caller writes; TensorFlow's 3-D convolutions take no explicit paddings."""
    attrs = [attr for attr in op["attrs"] if not attr.get("from_inputs")]
    return [attr for attr in attrs if not (op["name"].startswith("Conv3D") and attr["name"] == "explicit_paddings")]


def type_of(pin: dict[str, Any]) -> str:
    integers = pin["name"].endswith("_sizes") or pin["type"] in ("Tidx", "Tperm", "Tshape")
    return "list[Array]" if pin.get("list") else "Integers" if integers else "Array"


def parameters(op: dict[str, Any]) -> list[str]:
    tensors = [f"{pin['name']}: {type_of(pin)}" for pin in op["inputs"]]
    attrs = []
    for attr in written_attrs(op):
        default = f" = {python(attr['default'])}" if "default" in attr else ""
        attrs.append(f"{attr['name']}: {TYPES[attr['kind']]}{default}")
    return ["*", *tensors, *attrs, "name: str | None = None"]


def python(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def call(head: str, arguments: list[str]) -> str:
    """A return statement, broken as the formatter would."""
    one_line = f"    return {head}({', '.join(arguments)})\n"
    indented = f"        {', '.join(arguments)}\n"
    if len(one_line) <= LINE + 1:
        return one_line
    if len(indented) <= LINE + 1:
        return f"    return {head}(\n{indented}    )\n"
    return f"    return {head}(\n" + "".join(f"        {argument},\n" for argument in arguments) + "    )\n"


def eager_body(op: dict[str, Any]) -> str:
    """The tensors in the order of the library's calls, then the sizes."""
    pins = [pin["name"] for pin in op["inputs"]]
    sizes = [pin for pin in pins if pin.endswith("_sizes")] or ["None"]
    tensors = [pin for pin in pins if not pin.endswith("_sizes")]
    pads = "explicit_paddings" if any(a["name"] == "explicit_paddings" for a in written_attrs(op)) else "()"
    window = ["strides", "padding", pads, "data_format", "dilations", "None"]
    return call("_conv", [f'"{op["name"]}"', *tensors, *sizes, *window])


def graph_body(op: dict[str, Any]) -> str:
    """One node of a graph, run and forgotten."""
    pins = op["inputs"]
    tensors = pins[0]["name"] if pins[0].get("list") else f"[{', '.join(pin['name'] for pin in pins)}]"
    attrs = [f"{attr['name']}={attr['name']}" for attr in written_attrs(op)]
    arguments = [f'"{op["name"]}"', tensors, *attrs]
    if len(op["outputs"]) > 1:
        return call(f"{op['name']}Outputs", [f"*_op({', '.join(arguments)})"])
    made = call("_op", arguments).rstrip("\n")
    return f"{made}[0]\n"


def outputs_class(op: dict[str, Any]) -> str:
    if len(op["outputs"]) == 1:
        return ""
    fields = "".join(f"    {pin['name']}: Array\n" for pin in op["outputs"])
    return f'\n\nclass {op["name"]}Outputs(NamedTuple):\n    """What {op["name"]} gives."""\n\n{fields}'


def function(op: dict[str, Any]) -> str:
    lines = "".join(f"    {parameter},\n" for parameter in parameters(op))
    body = eager_body(op) if is_eager(op) else graph_body(op)
    result = "Array" if len(op["outputs"]) == 1 else f"{op['name']}Outputs"
    return f'{outputs_class(op)}\n\ndef {op["name"]}(\n{lines}) -> {result}:\n    """{op["doc"]}"""\n{body}'


def text() -> str:
    ops = json.loads(_core.ops_json())["ops"]
    return HEAD + "".join(function(op) for op in ops if not op["stateful"] and op["name"] not in GRAPH_ONLY)


if __name__ == "__main__":
    print(text(), end="")

"""Prints convgrad/raw_ops.py from the library's op table: python generate/raw_ops.py > convgrad/raw_ops.py."""

from __future__ import annotations

import json
from typing import Any

from convgrad import _core

# They need a graph: a place for a value, or a variable that lives longer than a call.
GRAPH_ONLY = ("Const", "Placeholder")
EAGER = ("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D", "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2")
TYPES = {"list(int)": "Integers", "string": "str", "bool": "bool", "int": "int", "float": "float", "type": "DTypeLike"}

HEAD = '''"""TensorFlow's raw ops over arrays: keywords only, with the arguments and defaults of tf.raw_ops.

Made from the op table by python/generate/raw_ops.py; a test compares.
"""

from __future__ import annotations

from ._arrays import Array, Integers
from ._core import conv as _conv
'''


def written_attrs(op: dict[str, Any]) -> list[dict[str, Any]]:
    """The attributes that a caller writes; TensorFlow's 3-D convolutions take no explicit paddings."""
    attrs = [attr for attr in op["attrs"] if not attr.get("from_inputs")]
    return [attr for attr in attrs if not (op["name"].startswith("Conv3D") and attr["name"] == "explicit_paddings")]


def parameters(op: dict[str, Any]) -> list[str]:
    tensors = [f"{pin['name']}: {'Integers' if pin['name'].endswith('_sizes') else 'Array'}" for pin in op["inputs"]]
    attrs = []
    for attr in written_attrs(op):
        text = f"{attr['name']}: {TYPES[attr['kind']]}"
        attrs.append(f"{text} = {json.dumps(attr['default']).replace('true', 'True')}" if "default" in attr else text)
    return ["*", *tensors, *attrs, "name: str | None = None"]


def eager_call(op: dict[str, Any]) -> str:
    """The tensors in the order of the library's calls, then the sizes."""
    pins = [pin["name"] for pin in op["inputs"]]
    sizes = [pin for pin in pins if pin.endswith("_sizes")] or ["None"]
    tensors = [pin for pin in pins if not pin.endswith("_sizes")]
    pads = "explicit_paddings" if any(a["name"] == "explicit_paddings" for a in written_attrs(op)) else "()"
    return f'_conv("{op["name"]}", {", ".join(tensors + sizes)}, strides, padding, {pads}, data_format, dilations, None)'


def function(op: dict[str, Any]) -> str:
    lines = "".join(f"    {parameter},\n" for parameter in parameters(op))
    return f'\n\ndef {op["name"]}(\n{lines}) -> Array:\n    """{op["doc"]}"""\n    return {eager_call(op)}\n'


def text() -> str:
    ops = [op for op in json.loads(_core.ops_json())["ops"] if op["name"] in EAGER]
    return HEAD + "".join(function(op) for op in ops)


if __name__ == "__main__":
    print(text(), end="")

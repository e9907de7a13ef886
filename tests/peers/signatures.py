"""Names, order and defaults of arguments: ours against TensorFlow's by introspection. Prints JSON."""

from __future__ import annotations

import inspect
import json
import os
import pathlib
import sys
from typing import Any

OURS_ALONE = {"out"}  # of nn
# Differences that are meant, all outside the convolutions: our pools take a list of paddings wherever they pad.
MEANT = {
    f"raw_ops.{pool}": "explicit_paddings is ours"
    for pool in (
        *("MaxPoolGradGrad", "MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad"),
        *("AvgPool", "AvgPoolGrad", "AvgPool3D", "AvgPool3DGrad"),
    )
}
STORED = pathlib.Path(__file__).parents[2] / "python" / "tests" / "data" / "signatures.json"


def text_of(function: Any) -> str:
    function = inspect.unwrap(function)
    parameters = [p for name, p in inspect.signature(function).parameters.items() if name not in OURS_ALONE]
    return "(" + ", ".join(p.name + default_of(p) for p in parameters) + ")"


def default_of(parameter: inspect.Parameter) -> str:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return ""
    return f"={getattr(default, 'name', default)!r}"  # tf.int32 is our "int32"


def compare() -> dict[str, Any]:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    import convgrad

    stored = json.loads(STORED.read_text())
    found: dict[str, Any] = {"compared": 0, "ours_alone": [], "meant": [], "differences": []}

    def check(room: str, name: str, ours: Any, theirs: Any) -> None:
        found["compared"] += 1
        texts = {"convgrad": text_of(ours), "tensorflow": text_of(theirs)}
        texts["stored"] = stored[room].get(name, texts["tensorflow"])
        if len(set(texts.values())) > 1:
            kind = "meant" if f"{room}.{name}" in MEANT else "differences"
            found[kind].append({"function": f"{room}.{name}", **texts})

    for name, ours in vars(convgrad.raw_ops).items():
        if inspect.isfunction(ours) and ours.__module__ == convgrad.raw_ops.__name__:
            if hasattr(tf.raw_ops, name):
                check("raw_ops", name, ours, getattr(tf.raw_ops, name))
            else:
                found["ours_alone"].append(name)
    for name in convgrad.nn.__all__:
        theirs = getattr(tf.nn, name, None) or getattr(tf.compat.v1.nn, name)
        check("nn", name, getattr(convgrad.nn, name), theirs)
    return found


if __name__ == "__main__":
    json.dump(compare(), sys.stdout)

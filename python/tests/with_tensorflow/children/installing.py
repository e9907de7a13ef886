"""How install() answers: installing.py twice|late|absent|alone|choices|loaded."""

import ctypes
import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any


def refusal(call: Callable) -> str:
    try:
        call()
    except Exception as refused:  # what it is goes to the test
        return f"{type(refused).__name__}: {refused}"
    return ""


def gradient(tf: ModuleType) -> Any:
    """A gradient that TensorFlow's own kernels refuse."""
    return tf.raw_ops.Conv2DBackpropFilter(
        input=tf.ones([1, 2, 4, 4], tf.float64),
        filter_sizes=[3, 3, 2, 2],
        out_backprop=tf.ones([1, 2, 4, 4], tf.float64),
        strides=[1, 1, 1, 1],
        padding="SAME",
        data_format="NCHW",
    )


def twice() -> dict:
    import tensorflow as tf

    import convgrad.tensorflow as plugin

    before = plugin.stats()
    count = plugin.install(onednn=True)
    second = refusal(plugin.install)
    gradient(tf)
    return {"before": before, "count": count, "second": second, "stats": plugin.stats()}


def late() -> dict:
    """TensorFlow has run the very op before."""
    import tensorflow as tf

    import convgrad.tensorflow as plugin

    first = refusal(lambda: gradient(tf))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plugin.install()
    then = refusal(lambda: gradient(tf))
    return {"first": first, "warnings": [str(w.message) for w in caught if "convgrad" in str(w.message)], "then": then}


def absent() -> dict:
    sys.modules["tensorflow"] = None  # as if it were not installed
    plugin = importlib.import_module("convgrad.tensorflow")
    return {"install": refusal(plugin.install), "stats": plugin.stats()}


def alone() -> dict:
    """The library in a process without TensorFlow, asked directly."""
    plugin = importlib.import_module("convgrad.tensorflow")
    message = ctypes.create_string_buffer(512)
    choice = plugin._choice(True, True, 0)
    count = plugin._library().convgrad_tensorflow_install(ctypes.byref(choice), message, ctypes.c_size_t(512))
    return {"count": count, "message": message.value.decode()}


def choices() -> dict:
    """Which ops the arguments in CHOICE leave to TensorFlow."""
    import convgrad.tensorflow as plugin

    plugin.install(**json.loads(os.environ["CHOICE"]))
    return {op: sorted(types) for op, types in plugin.stats().items()}


def loaded() -> dict:
    """`import tensorflow` alone."""
    import tensorflow as tf

    first = refusal(lambda: gradient(tf))
    plugin = importlib.import_module("convgrad.tensorflow")
    return {"gradient": first, "calls": plugin.stats().get("Conv2DBackpropFilter", {}).get("float64", 0)}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))

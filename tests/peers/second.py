"""Second derivatives: of t = <dx, p> + <dw, q>, where dx and dw are the gradients of s = sum(y * y), y = conv(x, w).

By the definition, with z = conv(p, w) + conv(x, q), they are 2 * (input_gradient(w, z) + input_gradient(q, y)) and
2 * (filter_gradient(x, z) + filter_gradient(p, y)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import exact
from problems import DTYPES, Problem, attributes_of, filter_shape, to_layout


def task_of(problem: Problem) -> dict[str, Any]:
    """Operands of magnitude 1: every value stays an exact integer."""
    rng = np.random.default_rng([problem.seed, 2])
    layer, dtype = problem.layer, DTYPES[problem.cell.dtype]
    names = {"x": layer.in_shape, "p": layer.in_shape, "w": layer.filter_shape, "q": layer.filter_shape}
    last = {name: rng.integers(-1, 2, shape).astype(dtype) for name, shape in names.items()}
    tensors = {k: to_layout(problem, v) if k in "xp" else v.reshape(filter_shape(problem)) for k, v in last.items()}
    question = {"kind": "second", "op": problem.cell.op, "tensors": tensors, "attributes": attributes_of(problem)}
    return {**question, "problem": problem, "last": last}


def by_definition(task: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    layer = task["problem"].layer
    x, w, p, q = (task["last"][name].astype(np.float64) for name in "xwpq")
    y = exact.forward(layer, x, w)
    z = exact.forward(layer, p, w) + exact.forward(layer, x, q)
    of_x = 2 * (exact.input_gradient(layer, w, z) + exact.input_gradient(layer, q, y))
    of_w = 2 * (exact.filter_gradient(layer, x, z) + exact.filter_gradient(layer, p, y))
    return of_x, of_w


def tensorflows(tf: Any, wrap: Callable[..., Any], task: dict[str, Any]) -> tuple[Any, ...]:
    convolve = getattr(tf.raw_ops, task["op"])

    def second(x: Any, w: Any, p: Any, q: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch([x, w])
            with tf.GradientTape() as inner:
                inner.watch([x, w])
                y = convolve(input=x, filter=w, **task["attributes"])
                s = tf.reduce_sum(y * y)
            dx, dw = inner.gradient(s, [x, w])
            t = tf.reduce_sum(dx * p) + tf.reduce_sum(dw * q)
        return outer.gradient(t, [x, w])

    tensors = [tf.constant(task["tensors"][name]) for name in "xwpq"]
    return tuple(gradient.numpy() for gradient in wrap(second)(*tensors))


def ours(task: dict[str, Any]) -> tuple[np.ndarray, ...]:
    from convgrad.graph import Graph

    g = Graph()
    x, w, p, q = (g.Const(task["tensors"][name]) for name in "xwpq")
    y = g.add(task["op"], x, w, **task["attributes"])

    def total(product: Any, rank: int) -> Any:
        return g.Sum(product, np.arange(rank, dtype=np.int32))

    rank = len(task["tensors"]["x"].shape)
    dx, dw = g.gradients([total(g.Mul(y, y), rank)], [x, w])
    t = g.AddV2(total(g.Mul(dx, p), rank), total(g.Mul(dw, q), rank))
    return tuple(g.run(g.gradients([t], [x, w])))

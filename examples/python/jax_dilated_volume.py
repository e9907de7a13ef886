"""Trains a small net of dilated, grouped 3-D convolutions with jax.grad, first by lax, then by convgrad.jax.

    python examples/python/jax_dilated_volume.py

The model and the training loop are the same; `conv` is the one thing that changes. Losses are printed side by side.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import convgrad.jax

STEPS = 6
CHANNELS, GROUPS = 16, 4
DILATIONS = (1, 2, 4)
LEARNING_RATE = 0.02

Params = list[dict[str, jax.Array]]
Conv = Callable[[jax.Array, jax.Array, int], jax.Array]


def by_lax(x: jax.Array, w: jax.Array, dilation: int) -> jax.Array:
    return jax.lax.conv_general_dilated(
        x,
        w,
        window_strides=(1, 1, 1),
        padding="SAME",
        rhs_dilation=(dilation,) * 3,
        dimension_numbers=("NDHWC", "DHWIO", "NDHWC"),
        feature_group_count=x.shape[-1] // w.shape[-2],
    )


def by_convgrad(x: jax.Array, w: jax.Array, dilation: int) -> jax.Array:
    return convgrad.jax.conv(x, w, padding="SAME", dilations=dilation)


def make_params(key: jax.Array) -> Params:
    params = []
    channels = 1
    for dilation_key in jax.random.split(key, len(DILATIONS)):
        seen = channels if channels == 1 else channels // GROUPS
        w = jax.random.normal(dilation_key, (3, 3, 3, seen, CHANNELS)) / jnp.sqrt(27.0 * seen)
        params.append({"w": w, "b": jnp.zeros(CHANNELS)})
        channels = CHANNELS
    return params


def make_volumes(key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Noisy volumes with a ball in them, and the ball."""
    axis = jnp.arange(16.0) - 8
    places = jnp.stack(jnp.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    centres = jax.random.uniform(key, (2, 1, 1, 1, 3), minval=-3, maxval=3)
    ball = (jnp.sum((places - centres) ** 2, axis=-1, keepdims=True) < 16).astype(jnp.float32)
    return ball + 0.5 * jax.random.normal(key, ball.shape), ball


def predict(conv: Conv, params: Params, x: jax.Array) -> jax.Array:
    for layer, dilation in zip(params, DILATIONS):
        x = jnp.tanh(conv(x, layer["w"], dilation) + layer["b"])
    return jnp.mean(x, axis=-1, keepdims=True)


def train(conv: Conv, params: Params, x: jax.Array, target: jax.Array) -> tuple[list[float], float]:
    """The losses, and the seconds a step takes once it is compiled."""

    def loss(params: Params) -> jax.Array:
        return jnp.mean((predict(conv, params, x) - target) ** 2)

    @jax.jit
    def step(params: Params) -> tuple[Any, jax.Array]:
        value, slope = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - LEARNING_RATE * g / (1e-3 + jnp.abs(g).max()), params, slope), value

    jax.block_until_ready(step(params))
    losses = []
    start = time.perf_counter()
    for _ in range(STEPS):
        params, value = step(params)
        losses.append(float(value))
    return losses, (time.perf_counter() - start) / STEPS


def main() -> None:
    params = make_params(jax.random.key(1))
    x, target = make_volumes(jax.random.key(2))
    before, before_seconds = train(by_lax, params, x, target)
    after, after_seconds = train(by_convgrad, params, x, target)
    print("step   loss by lax   by convgrad.jax")
    for number, pair in enumerate(zip(before, after)):
        print(f"{number:4d}  {pair[0]:12.7f}  {pair[1]:16.7f}")
    print(f"a step: {1e3 * before_seconds:.0f} ms by lax, {1e3 * after_seconds:.0f} ms by convgrad.jax")
    apart = max(abs(a - b) / b for a, b in zip(after, before))
    if apart > 1e-4:
        raise SystemExit(f"the losses differ by {apart:.1e}")


if __name__ == "__main__":
    main()

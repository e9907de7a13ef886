"""vmap: the mapped axis goes into the batch, the channels or the groups, and the values are those of a loop."""

import functools

import jax
import jax.numpy as jnp
import pytest
from jax_problems import assert_same, draw, tensors

from convgrad import jax as ours

MAPPED = [(0, None), (None, 0), (0, 0), (1, None), (None, 2), (2, 1)]
OPS = {"conv": (0, 1), "input_gradient": (1, 2), "filter_gradient": (0, 2)}
SIZE = 3


def mapped_operands(problem, name, axes):
    drawn = [tensors(problem, seed) for seed in range(SIZE)]
    stacks = [jnp.stack([d[i] for d in drawn]) for i in OPS[name]]
    return [stack[0] if axis is None else jnp.moveaxis(stack, 0, axis) for stack, axis in zip(stacks, axes)]


def loop(op, axes, *operands):
    def at(i):
        return [t if axis is None else jnp.take(t, i, axis) for t, axis in zip(operands, axes)]

    return jnp.stack([op(*at(i)) for i in range(SIZE)])


@pytest.mark.parametrize("axes", MAPPED)
@pytest.mark.parametrize("name", OPS)
def test_every_op_and_mapping_is_the_loop(name, axes):
    for seed in range(100, 103):
        problem = draw(seed)
        op = getattr(problem, name)
        operands = mapped_operands(problem, name, axes)
        assert_same(
            problem, jax.jit(jax.vmap(op, axes))(*operands), jax.jit(functools.partial(loop, op, axes))(*operands)
        )


@pytest.mark.parametrize("name", OPS)
def test_no_loop_is_made(name):
    problem = draw(110, 2)
    for axes in MAPPED[:3]:
        program = str(jax.make_jaxpr(jax.vmap(getattr(problem, name), axes))(*mapped_operands(problem, name, axes)))
        assert program.count("convgrad_") == 1 and "while" not in program and "scan" not in program


def test_gradients_of_examples_one_by_one_are_the_loop():
    problem = draw(120, 3)
    x, w, _ = tensors(problem, 1)

    def loss(conv, x, w):
        return jnp.sum(conv(x[None], w) ** 3)

    def each(conv):
        return jax.jit(jax.vmap(jax.grad(lambda w, x: loss(conv, x, w)), (None, 0)))(w, x)

    assert_same(problem, each(problem.conv), each(problem.lax))


def test_mapped_twice():
    problem = draw(130, 2)
    drawn = [tensors(problem, seed) for seed in range(SIZE)]
    x, w = (jnp.stack([d[i] for d in drawn]) for i in (0, 1))
    table = jax.vmap(lambda x: jax.vmap(lambda w: problem.conv(x, w))(w))(x)
    for i in range(SIZE):
        for j in range(SIZE):
            assert_same(problem, table[i, j], problem.conv(x[i], w[j]))


def test_an_empty_mapped_axis_gives_an_empty_result():
    x, w = jnp.ones((0, 2, 5, 5, 3)), jnp.ones((0, 3, 3, 3, 4))
    assert jax.vmap(lambda x, w: ours.conv(x, w))(x, w).shape == (0, 2, 3, 3, 4)

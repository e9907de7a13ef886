"""Derivatives of all three ops, in both modes and to second order."""

import jax
import jax.numpy as jnp
import pytest
from jax.test_util import check_grads
from jax_problems import assert_same, draw, tensors

OPS = {
    "conv": (lambda p: p.conv, (0, 1)),
    "input_gradient": (lambda p: p.input_gradient, (1, 2)),
    "filter_gradient": (lambda p: p.filter_gradient, (0, 2)),
}


def op_and_operands(name, seed, rank):
    problem = draw(seed, rank)
    bound_op, used = OPS[name]
    every = tensors(problem, seed)
    return problem, bound_op(problem), [every[i] for i in used]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", OPS)
def test_differences_agree_to_second_order_in_both_modes(name, rank):
    for seed in (rank, 10 + rank):
        _, op, operands = op_and_operands(name, seed, rank)
        check_grads(op, operands, order=2, modes=["fwd", "rev"])


def loss(conv):
    return lambda x, w: jnp.sum(jnp.tanh(conv(x, w)) ** 2)


@pytest.mark.parametrize("seed", range(40, 52))
def test_value_and_grad_is_lax(seed):
    problem = draw(seed)
    x, w, _ = tensors(problem, seed)
    both = [jax.jit(jax.value_and_grad(loss(conv), (0, 1)))(x, w) for conv in (problem.conv, problem.lax)]
    assert_same(problem, *both)


@pytest.mark.parametrize("seed", range(60, 68))
def test_hessian_vector_products_are_lax(seed):
    problem = draw(seed)
    x, w, _ = tensors(problem, seed)
    along = tensors(problem, seed + 1)[:2]

    def products(conv):
        slope = jax.grad(loss(conv), (0, 1))
        forward_over_reverse = jax.jit(lambda x, w: jax.jvp(slope, (x, w), along)[1])
        reverse_over_reverse = jax.grad(lambda x, w: sum(jnp.vdot(g, v) for g, v in zip(slope(x, w), along)), (0, 1))
        return forward_over_reverse(x, w), jax.jit(reverse_over_reverse)(x, w)

    assert_same(problem, products(problem.conv), products(problem.lax))


@pytest.mark.parametrize("seed", [70, 71, 72])
def test_jacobians_of_both_modes_are_lax(seed):
    problem = draw(seed, 2)
    x, w, _ = tensors(problem, seed)
    want = jax.jit(jax.jacrev(problem.lax, (0, 1)))(x, w)
    assert_same(problem, jax.jit(jax.jacrev(problem.conv, (0, 1)))(x, w), want)
    assert_same(problem, jax.jit(jax.jacfwd(problem.conv, (0, 1)))(x, w), want)


def test_a_hessian_is_lax():
    problem = draw(80, 1)
    x, w, _ = tensors(problem, 80)
    both = [jax.jit(jax.hessian(loss(conv), (0, 1)))(x, w) for conv in (problem.conv, problem.lax)]
    assert_same(problem, *both)


def test_rematerialised_and_scanned_layers_are_lax():
    problem = draw(90, 2)
    x, w, _ = tensors(problem, 90)
    ws = jnp.stack([w, 2 * w])

    def total(conv):
        step = jax.checkpoint(lambda carry, w: (carry + jnp.sum(jnp.sin(conv(x, w))), None))
        return jax.jit(jax.grad(lambda ws: jax.lax.scan(step, 0.0, ws)[0]))(ws)

    assert_same(problem, total(problem.conv), total(problem.lax))

"""Forward and both gradients against lax in float64."""

import jax
import numpy as np
import pytest
from jax_problems import bound, draw, tensors

from convgrad import jax as ours


def all_three(conv, x, w, dy):
    y, pull = jax.vjp(conv, x, w)
    return (y, *pull(dy))


def exact_and_magnitudes(problem, x, w, dy):
    wide = [t.astype("float64") for t in (x, w, dy)]
    both = jax.jit(lambda x, w, dy: [all_three(problem.lax, *t) for t in ((x, w, dy), (abs(x), abs(w), abs(dy)))])
    return both(*wide)


def assert_close(problem, dtype, found, wide):
    exact, magnitudes = wide
    for name, got, want, magnitude in zip(("output", "input", "filter"), found, exact, magnitudes):
        assert got.dtype == dtype and got.shape == want.shape, name
        error = np.abs(np.asarray(got, np.float64) - np.asarray(want))
        allowed = bound(dtype, np.asarray(want), np.asarray(magnitude), problem.terms)
        assert np.all(error <= allowed), (name, problem, float(np.max(error - allowed)))


@pytest.mark.parametrize("first_seed", range(0, 200, 20))
def test_random_problems_in_double(first_seed):
    for seed in range(first_seed, first_seed + 20):
        problem = draw(seed)
        x, w, dy = tensors(problem, seed)
        found = jax.jit(lambda x, w, dy, problem=problem: all_three(problem.conv, x, w, dy))(x, w, dy)
        assert_close(problem, "float64", found, exact_and_magnitudes(problem, x, w, dy))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_narrow_types_round_once(dtype, rank):
    for seed in range(1000, 1010):
        problem = draw(seed, rank)
        x, w, dy = tensors(problem, seed, dtype)
        assert_close(problem, dtype, all_three(problem.conv, x, w, dy), exact_and_magnitudes(problem, x, w, dy))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_explicit_gradient_ops_are_the_derivatives(rank):
    for seed in range(2000, 2006):
        problem = draw(seed, rank)
        x, w, dy = tensors(problem, seed)
        _, dx, dw = all_three(problem.conv, x, w, dy)
        np.testing.assert_array_equal(problem.input_gradient(w, dy), dx)
        np.testing.assert_array_equal(problem.filter_gradient(x, dy), dw)


def named(problem, ending):
    """The function of TensorFlow's name for a problem's rank."""
    return getattr(ours, f"conv{problem.rank}d{ending}" + ("_v2" if ending and problem.rank == 3 else ""))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_tensorflow_names_take_tensorflows_order(rank):
    problem = draw(3000 + rank, rank)
    x, w, dy = tensors(problem, 1)
    options = (problem.strides, problem.padding, problem.data_format, problem.dilations)
    np.testing.assert_array_equal(named(problem, "")(x, w, *options), problem.conv(x, w))
    dx = named(problem, "_backprop_input")(problem.input_shape, w, dy, *options)
    np.testing.assert_array_equal(dx, problem.input_gradient(w, dy))
    dw = named(problem, "_backprop_filter")(x, problem.filter_shape, dy, *options)
    np.testing.assert_array_equal(dw, problem.filter_gradient(x, dy))
    assert named(problem, "_backprop_filter").__name__.startswith(f"conv{rank}d_backprop_filter")


def test_arguments_may_be_numbers_or_name_every_dimension():
    x, w = np.ones((1, 6, 7, 2)), np.ones((3, 3, 2, 4))
    one = ours.conv(x, w, strides=2, padding=[(1, 0), (2, 1)], dilations=1)
    all_dims = ours.conv(x, w, [1, 2, 2, 1], [(0, 0), (1, 0), (2, 1), (0, 0)], [1, 1, 1, 1], "NHWC")
    np.testing.assert_array_equal(one, all_dims)
    assert one.shape == (1, 3, 4, 4)


def test_input_sizes_of_two_numbers_are_height_and_width():
    w, dy = np.ones((3, 3, 2, 4)), np.ones((5, 6, 7, 4))
    assert ours.conv2d_backprop_input((6, 7), w, dy, 1, "SAME").shape == (5, 6, 7, 2)


def test_without_jit():
    problem = draw(7, 2)
    x, w, _ = tensors(problem, 7)
    with jax.disable_jit():
        eager = problem.conv(x, w)
    np.testing.assert_array_equal(eager, jax.jit(problem.conv)(x, w))


def test_an_empty_batch_gives_an_empty_output_and_a_zero_gradient():
    x, w = np.ones((0, 5, 5, 2)), np.ones((3, 3, 2, 4))
    assert ours.conv(x, w).shape == (0, 3, 3, 4)
    dw = jax.grad(lambda w: ours.conv(x, w).sum())(w)
    np.testing.assert_array_equal(dw, np.zeros_like(w))


def test_integers_wrap():
    x, w = np.full((1, 2, 2, 1), 2**20, np.int32), np.full((1, 1, 1, 1), 2**12 + 1, np.int32)
    np.testing.assert_array_equal(ours.conv(x, w), np.full((1, 2, 2, 1), 2**20, np.int32))

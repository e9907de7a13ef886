"""Run by test_jax_spread.py on two host devices: a batch spread over both, by jit and by shard_map."""

import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jax_problems import Problem, assert_same, tensors

from convgrad import _jax_primitives

jax.config.update("jax_enable_x64", True)
MESH = Mesh(np.array(jax.devices()), ("batch",))


def loss(conv):
    return lambda x, w: jnp.sum(jnp.tanh(conv(x, w)) ** 2)


def jit(problem, x, w):
    """Each device computes on its half: nothing is gathered, the filter gradient is summed once."""
    step = jax.jit(jax.value_and_grad(loss(problem.conv), (0, 1)))
    x_spread, w_everywhere = (
        jax.device_put(x, NamedSharding(MESH, P("batch"))),
        jax.device_put(w, NamedSharding(MESH, P())),
    )
    found = step(x_spread, w_everywhere)
    assert_same(problem, found, jax.value_and_grad(loss(problem.lax), (0, 1))(x, w))
    assert found[1][0].sharding.spec == P("batch")
    program = step.lower(x_spread, w_everywhere).compile().as_text()
    assert "all-gather" not in program
    shapes = re.findall(r"f64\[([\d,]+)\]\S* custom-call\(", program)
    wanted = [problem.output_shape, problem.input_shape, problem.filter_shape]
    halves = [(s[0] // 2, *s[1:]) for s in wanted[:2]] + wanted[2:]
    assert sorted(shapes) == sorted(",".join(map(str, s)) for s in halves), (shapes, halves)


def manual(problem, x, w):
    shard_map = getattr(jax, "shard_map", None)
    if shard_map is None:
        from jax.experimental.shard_map import shard_map
    part = shard_map(
        lambda x, w: jax.lax.psum(loss(problem.conv)(x, w), "batch"),
        mesh=MESH,
        in_specs=(P("batch"), P()),
        out_specs=P(),
    )
    found = jax.jit(jax.value_and_grad(part, (0, 1)))(x, w)
    assert_same(problem, found, jax.value_and_grad(loss(problem.lax), (0, 1))(x, w))


def other_axis(problem, x, w):
    """Spread over a spatial axis or unevenly: gathered, and right."""
    want = jax.grad(loss(problem.lax), (0, 1))(x, w)
    along_width = jax.device_put(x, NamedSharding(MESH, P(None, "batch")))
    assert_same(problem, jax.jit(jax.grad(loss(problem.conv), (0, 1)))(along_width, w), want)

    def uneven(x, w):
        return loss(problem.conv)(jax.lax.with_sharding_constraint(x, NamedSharding(MESH, P("batch"))), w)

    three = jax.grad(loss(problem.lax), (0, 1))(x[:3], w)
    assert_same(problem, jax.jit(jax.grad(uneven, (0, 1)))(jax.device_put(x[:3], NamedSharding(MESH, P())), w), three)


def mapped(problem, x, w):
    spread = jax.device_put(jnp.stack([x, 2 * x]), NamedSharding(MESH, P("batch")))
    found = jax.jit(jax.vmap(problem.conv, (0, None)))(spread, w)
    assert_same(problem, found, jnp.stack([problem.lax(x, w), problem.lax(2 * x, w)]))


def unnamed(problem, x, w):
    """A JAX that does not name the devices: gathered, and right."""
    for primitive in _jax_primitives._PRIMITIVES.values():
        _jax_primitives._ask_for_devices.remove(primitive)
    _jax_primitives._ask_for_devices = None
    spread = jax.device_put(x, NamedSharding(MESH, P("batch")))
    found = jax.jit(jax.value_and_grad(loss(problem.conv), (0, 1)))(spread, w)
    assert_same(problem, found, jax.value_and_grad(loss(problem.lax), (0, 1))(x, w))


def explicit(problem, x, w):
    """A mesh whose axes are part of the types."""
    want = jax.grad(loss(problem.lax), (0, 1))(x, w)
    with jax.set_mesh(jax.make_mesh((2,), ("batch",), axis_types=(jax.sharding.AxisType.Explicit,))):
        spread = jax.reshard(x, P("batch"))
        assert jax.typeof(jax.jit(problem.conv)(spread, w)).sharding.spec[0] == "batch"
        found = jax.jit(jax.grad(loss(problem.conv), (0, 1)))(spread, w)
    assert found[0].sharding.spec[0] == "batch" and not any(found[1].sharding.spec)
    assert_same(problem, found, want)


if __name__ == "__main__":
    assert len(jax.devices()) == 2
    problem = Problem(4, 2, 3, 2, (6, 7), (3, 2), (2, 1), (1, 2), "SAME", False)
    x, w, _ = tensors(problem, 1)
    globals()[sys.argv[1]](problem, x, w)

"""The three ops of a convolution as JAX primitives.

With s(x, w, y) = <y, conv(x, w)>, linear in each of its tensors, forward, input gradient and filter gradient are the
derivatives of s by output, input and filter. Each op therefore takes two roles of (input, filter, output) and gives the
third, and each of its own derivatives is another of the three. Every rule below is written once, over roles.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from convgrad._jax_library import TARGET, Call, Sizes, result_shape

_ask_for_devices: set[Any] | None
try:  # private, see _lower
    from jax._src.dispatch import prim_requires_devices_during_lowering as _ask_for_devices
except ImportError:
    _ask_for_devices = None

INPUT, FILTER, OUTPUT = "input", "filter", "output"

# What an op reads, in the order of the library's arguments, by what it gives.
OPERANDS = {OUTPUT: (INPUT, FILTER), INPUT: (FILTER, OUTPUT), FILTER: (INPUT, OUTPUT)}

# By what an op gives, for ranks 1 to 3.
OP_NAMES = {
    OUTPUT: ("conv1d", "conv2d", "conv3d"),
    INPUT: ("conv1d_backprop_input", "conv2d_backprop_input", "conv3d_backprop_input_v2"),
    FILTER: ("conv1d_backprop_filter", "conv2d_backprop_filter", "conv3d_backprop_filter_v2"),
}

_PRIMITIVES = {role: Primitive(f"convgrad_{role}") for role in OPERANDS}


def compute(role: str, tensors: dict[str, Any], call: Call, sizes: tuple[int, ...] = ()) -> jax.Array:
    """The tensor of that role from the two others; sizes is its shape, and unused for the output."""
    first, second = (tensors[operand] for operand in OPERANDS[role])
    return _PRIMITIVES[role].bind(first, second, call=call, sizes=() if role == OUTPUT else tuple(sizes))


def shape_of(role: str, operands: Any, call: Call, sizes: Sizes) -> tuple[int, ...]:
    return result_shape(OP_NAMES[role][call.rank - 1], operands, call, sizes)


# ---- Shapes, and running outside jit ----


def _abstract(role: str, first: Any, second: Any, *, call: Call, sizes: tuple[int, ...]) -> Any:
    shape = shape_of(role, (first, second), call, Sizes(sizes))
    like = second if role == INPUT else first
    return like.update(shape=shape, weak_type=False, **_explicit_sharding(role, like))


def _explicit_sharding(role: str, like: Any) -> dict[str, Any]:
    """On a mesh with explicit axes the type says how an array is spread: a result as its batch, if it has one."""
    spec = tuple(getattr(getattr(like, "sharding", None), "spec", ()))
    if not any(spec):
        return {}
    axes = [None if role == FILTER else spec[0], *[None] * (len(spec) - 1)]
    return {"sharding": NamedSharding(like.sharding.mesh, PartitionSpec(*axes))}


@functools.lru_cache(maxsize=4096)
def _compiled(role: str, call: Call, sizes: tuple[int, ...]) -> Any:
    return jax.jit(functools.partial(_PRIMITIVES[role].bind, call=call, sizes=sizes))


def _run(role: str, first: Any, second: Any, *, call: Call, sizes: tuple[int, ...]) -> jax.Array:
    with jax.disable_jit(False):  # without jit, bind would come back here
        return _compiled(role, call, sizes)(first, second)


# ---- Derivatives ----


def _transpose(role: str, wanted: str, cotangent: Any, *operands: Any, call: Call, sizes: tuple[int, ...]) -> jax.Array:
    """By the operand of role `wanted`, which is unknown here but for its shape."""
    tensors = dict(zip(OPERANDS[role], operands))
    shape = tensors[wanted].aval.shape
    return compute(wanted, {**tensors, role: cotangent}, call, shape)


# ---- vmap: the mapped axis becomes part of an axis that the op has ----

# Which one follows from the roles that are mapped, result included: batch, channels of a group, or groups.
_BATCH, _IN_GROUP, _OUT_GROUP, _GROUPS = range(4)
_FOLDS = {
    frozenset((INPUT, OUTPUT)): _BATCH,
    frozenset((INPUT, FILTER)): _IN_GROUP,
    frozenset((FILTER, OUTPUT)): _OUT_GROUP,
    frozenset((INPUT, FILTER, OUTPUT)): _GROUPS,
}


def _place(role: str, fold: int, call: Call, groups: int) -> tuple[int, int]:
    """The axis of a role's tensor that takes the mapped one in, and after how many leading parts of it: channels are
    (groups, channels of a group), and the mapped axis stands before the groups or between the two."""
    if role == FILTER:
        return (call.rank, 1) if fold == _IN_GROUP else (call.rank + 1, groups if fold == _OUT_GROUP else 1)
    if fold == _BATCH:
        return call.data_format.index("N"), 1
    return call.data_format.index("C"), 1 if fold == _GROUPS else groups


def _fold(tensor: Any, mapped: int, place: tuple[int, int]) -> jax.Array:
    axis, parts = place
    tensor = jnp.moveaxis(tensor, mapped, 0)
    before, length, after = tensor.shape[1 : axis + 1], tensor.shape[axis + 1], tensor.shape[axis + 2 :]
    split = tensor.reshape(tensor.shape[0], *before, parts, length // parts, *after)
    return jnp.moveaxis(split, 0, axis + 1).reshape(*before, tensor.shape[0] * length, *after)


def _unfold(tensor: Any, size: int, place: tuple[int, int]) -> jax.Array:
    axis, parts = place
    before, length, after = tensor.shape[:axis], tensor.shape[axis] // size, tensor.shape[axis + 1 :]
    split = tensor.reshape(*before, parts, size, length // parts, *after)
    return jnp.moveaxis(split, axis + 1, 0).reshape(size, *before, length, *after)


def _batch(role: str, operands: Any, mapped: Any, *, call: Call, sizes: tuple[int, ...]) -> tuple[jax.Array, int]:
    tensors = dict(zip(OPERANDS[role], operands))
    axes = {r: axis for r, axis in zip(OPERANDS[role], mapped) if axis is not None}
    size = next(tensors[r].shape[axis] for r, axis in axes.items())
    shapes = {r: tuple(np.delete(t.shape, axes[r]) if r in axes else t.shape) for r, t in tensors.items()}
    alone = [jax.ShapeDtypeStruct(shapes[r], t.dtype) for r, t in tensors.items()]
    shapes[role] = result = shape_of(role, alone, call, Sizes(sizes))
    if size == 0:
        return jnp.zeros((0, *result), operands[0].dtype), 0
    groups = int(shapes[INPUT][call.data_format.index("C")] // shapes[FILTER][call.rank])
    place = functools.partial(_place, fold=_FOLDS[frozenset((role, *axes))], call=call, groups=groups)
    tensors.update({r: _fold(tensors[r], axis, place(r)) for r, axis in axes.items()})
    axis, _ = place(role)
    folded = compute(role, tensors, call, (*result[:axis], result[axis] * size, *result[axis + 1 :]))
    return _unfold(folded, size, place(role)), 0


# ---- XLA, and batches that are spread over devices ----


def _call_library(role: str, first: Any, second: Any, *, call: Call, sizes: tuple[int, ...]) -> jax.Array:
    shape = shape_of(role, (first, second), call, Sizes(sizes))
    return jax.ffi.ffi_call(TARGET, jax.ShapeDtypeStruct(shape, first.dtype))(
        first,
        second,
        op=OP_NAMES[role][call.rank - 1],
        padding=call.padding,
        data_format=call.data_format,
        strides=np.array(call.strides, np.int64),
        dilations=np.array(call.dilations, np.int64),
        explicit_paddings=np.array(call.explicit_paddings, np.int64),
    )


def _batch_axes(mesh: Mesh, tensors: list[Any]) -> Any:
    """The axes of the mesh over which the batch is spread evenly: uneven parts are filled up with what is no data."""
    for tensor in tensors:
        axes = tensor.sharding.spec[0] if len(tensor.sharding.spec) > 0 else None
        names = axes if isinstance(axes, tuple) else (axes,)
        if axes is not None and tensor.shape[0] % math.prod(mesh.shape[name] for name in names) == 0:
            return axes
    return None


def _shardings(role: str, mesh: Mesh, operands: Any) -> tuple[dict[str, NamedSharding], Any]:
    """How the tensor of each role is spread where the batch is spread as the operands' is, and over which axes."""
    batched = [tensor for r, tensor in zip(OPERANDS[role], operands) if r != FILTER]
    axes = None
    if all(isinstance(tensor.sharding, NamedSharding) for tensor in batched):
        axes = _batch_axes(mesh, batched)
    else:  # XLA does not say it by names: every device does everything
        devices = sorted(batched[0].sharding.device_set, key=lambda device: device.id)
        mesh = Mesh(np.array(devices), ("devices",))
    specs = {r: PartitionSpec(None if r == FILTER else axes) for r in OPERANDS}
    return {r: NamedSharding(mesh, spec) for r, spec in specs.items()}, axes


def _spread(role: str, call: Call, sizes: tuple[int, ...]) -> Any:
    """The op on arrays whose batch lies on several devices: each does its part, filter gradients are summed."""
    run = custom_partitioning(lambda first, second: _call_library(role, first, second, call=call, sizes=sizes))

    def partition(mesh: Mesh, operands: Any, result: Any) -> Any:
        shardings, axes = _shardings(role, mesh, operands)

        def part(first: jax.Array, second: jax.Array) -> jax.Array:
            local = (second.shape[0], *sizes[1:]) if role == INPUT else sizes
            done = _call_library(role, first, second, call=call, sizes=local)
            return jax.lax.psum(done, axes) if role == FILTER and axes is not None else done

        return shardings[role].mesh, part, shardings[role], tuple(shardings[r] for r in OPERANDS[role])

    def infer(mesh: Mesh, operands: Any, result: Any) -> Any:
        return _shardings(role, mesh, operands)[0][role]

    run.def_partition(partition, infer_sharding_from_operands=infer, sharding_rule=_sharding_rule(role, call))
    return run


def _sharding_rule(role: str, call: Call) -> str:
    """That the batch, n, is the one axis which tensors share: "n i1 i2 i3, f0 f1 f2 f3 -> n o1 o2 o3"."""

    def axes(r: str) -> str:
        own = [f"{r[0]}{i}" for i in range(call.rank + 2)]
        return " ".join(own if r == FILTER else ["n", *own[1:]])

    first, second = OPERANDS[role]
    return f"{axes(first)}, {axes(second)} -> {axes(role)}"


def _lower(role: str, *operands: Any, call: Call, sizes: tuple[int, ...]) -> jax.Array:
    """JAX names the devices only to primitives on a private list. Without it XLA gathers a spread batch on every
    device, which is slower and gives the same values."""
    if _ask_for_devices is None:
        return _call_library(role, *operands, call=call, sizes=sizes)
    return _spread(role, call, sizes)(*operands)


def _define(role: str, primitive: Primitive) -> None:
    primitive.def_abstract_eval(functools.partial(_abstract, role))
    primitive.def_impl(functools.partial(_run, role))
    first, second = OPERANDS[role]
    ad.defbilinear(primitive, functools.partial(_transpose, role, first), functools.partial(_transpose, role, second))
    batching.primitive_batchers[primitive] = functools.partial(_batch, role)
    lowering = mlir.lower_fun(functools.partial(_lower, role), multiple_results=False)
    for platform in ("cpu", "cuda"):
        mlir.register_lowering(primitive, lowering, platform=platform)
    if _ask_for_devices is not None:
        _ask_for_devices.add(primitive)


for _role, _primitive in _PRIMITIVES.items():
    _define(_role, _primitive)

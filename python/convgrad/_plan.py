"""Plans: a convolution looked at once and run many times."""

from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import Array
from ._core import explain as _explain


class Plan(_core.Plan):
    """What will be run and why.

    ``Plan("n2c16h9w9_k8r3s3_st2_same_f32_filter_grad")`` is made from a problem string,
    ``Plan("Conv2DBackpropFilter", input=x, filter_sizes=[3, 3, 16, 8], out_backprop=dy, strides=[1, 2, 2, 1],
    padding="SAME")`` from the arguments of a raw op. ``plan(x, dy)`` runs it, ``plan(x, dy, out=dw)`` without new
    memory; ``plan.operands`` tells which arrays it takes. ``math`` is what engines may do to the last bits:
    ``"canonical"`` asks for the same bits on every CPU, ``"tf32"`` permits products of float32 with fewer bits;
    ``plan.math`` says what is really done. ``gpu`` is the number of the GPU in whose memory the arrays lie; the
    arguments of a raw op say that themselves.
    """

    def __init__(
        self, what: str, *, engine: str = "", math: str = "standard", gpu: int | None = None, **arguments: Any
    ) -> None:
        super().__init__(_described(what, arguments), engine, math, gpu)

    def __repr__(self) -> str:
        return f"<convgrad.Plan {self.problem}: {self.engine}, {self.kernel}>"


def explain(what: str, **arguments: Any) -> str:
    """Shapes, padding, plan and why, as text; of a problem string or of a raw op's name and arguments."""
    return _explain(_described(what, arguments))


def _described(what: str, arguments: dict[str, Any]) -> str | tuple[Array, ...]:
    """A problem string as it is; an op as the positional arguments of ``_core.conv``."""
    if not arguments:
        return what
    tensors = _core.tensor_arguments(what)
    rank = _core.rank(what)
    known: dict[str, Any] = {
        "strides": [1] * (rank + 2),
        "dilations": [1] * (rank + 2),
        "padding": None,
        "explicit_paddings": None,
    }
    known |= {"data_format": _core.data_format(what), "use_cudnn_on_gpu": True, "name": None}
    unknown = [name for name in arguments if name not in known and name not in tensors]
    missing = [name for name in tensors if name not in arguments]
    if unknown or missing:
        problem = f"got no {missing[0]}" if missing else f"got an unknown argument {unknown[0]}"
        raise TypeError(f"{what}: {problem}, wanted {', '.join([*tensors, *known])}")
    known |= arguments
    sizes = [known[name] for name in tensors if name.endswith("_sizes")] or [None]
    arrays = [known[name] for name in tensors if not name.endswith("_sizes")]
    order = ("strides", "padding", "explicit_paddings", "data_format", "dilations")
    return (what, *arrays, *sizes, *(known[name] for name in order))

"""Arrays in the memory of a GPU, played by the tests' own CUDA driver: used where they lie, on their stream.

PyTorch and CuPy are stand-ins with the few names that are asked of them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterator
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import pytest

import convgrad
import host_gpu
from convgrad import errors, graph, nn, raw_ops
from definition import integers
from host_gpu import GpuArray

pytestmark = pytest.mark.skipif(
    not host_gpu.is_here(), reason="CONVGRAD_CUDA_DRIVER names not the tests' driver, whose build needs Boost.Context"
)

X, W, DY = (integers(shape, seed) for seed, shape in enumerate([(2, 5, 5, 2), (3, 3, 2, 3), (2, 5, 5, 3)]))
SAME = {"strides": [1, 1, 1, 1], "padding": "SAME"}
STREAM = 0x7700


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No array stays lent, and nothing was waited for or copied between host and device."""
    silent = ("cuStreamSynchronize", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamCreate")
    before = [host_gpu.calls(name) for name in silent]
    host_gpu.loans.clear()
    yield
    assert [host_gpu.calls(name) for name in silent] == before
    host_gpu.driver().convgrad_host_devices(1)


CALLS = {
    "forward": ("Conv2D", {"input": X, "filter": W}),
    "filter gradient": ("Conv2DBackpropFilter", {"input": X, "filter_sizes": list(W.shape), "out_backprop": DY}),
    "input gradient": ("Conv2DBackpropInput", {"input_sizes": list(X.shape), "filter": W, "out_backprop": DY}),
    "depthwise": ("DepthwiseConv2dNative", {"input": X, "filter": W}),
    "depthwise filter gradient": (
        "DepthwiseConv2dNativeBackpropFilter",
        {"input": X, "filter_sizes": list(W.shape), "out_backprop": integers((2, 5, 5, 6), 3)},
    ),
    "volumes": ("Conv3D", {"input": integers((1, 3, 4, 4, 2), 4), "filter": integers((2, 3, 3, 2, 2), 5)}),
}


def both(name: str, dtype: Any, kind: Any) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """An op, and its arguments on the host and on the GPU."""
    op, given = CALLS[name]
    window = {"strides": [1] * 5, "padding": "SAME"} if op == "Conv3D" else SAME
    host = {key: value.astype(dtype) if isinstance(value, np.ndarray) else value for key, value in given.items()}
    there = {key: kind(value) if isinstance(value, np.ndarray) else value for key, value in host.items()}
    return getattr(raw_ops, op), {**host, **window}, {**there, **window}


def test_other_libraries_give_an_out_and_are_asked_for_the_default_stream() -> None:
    x, w, out = (GpuArray(np.float32(each)) for each in (X, W, DY))
    assert nn.conv2d(x, w, 1, "SAME", out=out) is out
    assert (out.numpy() == nn.conv2d(np.float32(X), np.float32(W), 1, "SAME")).all()
    assert not host_gpu.loans
    assert x.streams == w.streams == out.streams == [1]
    assert host_gpu.last_stream() == 0


def test_a_library_of_dlpack_0_has_its_arrays_written() -> None:
    class Old(GpuArray):
        versions = False

    out = Old(np.zeros_like(DY, np.float32))
    nn.conv2d(GpuArray(np.float32(X)), GpuArray(np.float32(W)), 1, "SAME", out=out)
    assert (out.numpy() == nn.conv2d(np.float32(X), np.float32(W), 1, "SAME")).all()


def test_managed_memory_is_a_gpus() -> None:
    class Managed(GpuArray):
        device_type = host_gpu.CUDA_MANAGED

    out = Managed(np.zeros_like(DY, np.float32))
    nn.conv2d(Managed(np.float32(X)), GpuArray(np.float32(W)), 1, "SAME", out=out)
    assert (out.numpy() == nn.conv2d(np.float32(X), np.float32(W), 1, "SAME")).all()


def test_arrays_without_elements() -> None:
    x, w = GpuArray(np.zeros((0, 5, 5, 2), np.float32)), GpuArray(np.float32(W))
    out = GpuArray(np.zeros((0, 5, 5, 3), np.float32))
    assert nn.conv2d(x, w, 1, "SAME", out=out) is out


# ---- Libraries that are asked for a stream and for new arrays ----


class Device:
    """A GPU, and which one a library has as the current one."""

    stack: ClassVar[list[int]] = [0]

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> None:
        Device.stack.append(self.number)

    def __exit__(self, *error: object) -> None:
        Device.stack.pop()


class Tensor(GpuArray):
    """A stand-in for PyTorch's: lent by nobody who wants its gradient, nor while another GPU is current."""

    __module__ = "torch"
    requires_grad = False

    @property
    def device(self) -> Device:
        return Device(self.device_id)

    def detach(self) -> Tensor:
        other = self.view(self.shape, self.strides, self.offset)
        other.streams, other.requires_grad = self.streams, False
        return other

    def new_empty(self, shape: tuple[int, ...]) -> Tensor:
        return Tensor(np.full(shape, 99, self.dtype), self.device_id)

    def __dlpack__(self, **how: Any) -> Any:
        if self.requires_grad or Device.stack[-1] != self.device_id:
            raise BufferError("cannot export")
        return super().__dlpack__(**how)


class ndarray(GpuArray):
    """A stand-in for CuPy's, which is made on the GPU that is current."""

    __module__ = "cupy"

    @property
    def device(self) -> Device:
        return Device(self.device_id)


def streams_of(numbers: list[int]) -> types.SimpleNamespace:
    return types.SimpleNamespace(
        device=lambda device: device,
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=numbers[device.number]),
        get_current_stream=lambda: types.SimpleNamespace(ptr=numbers[Device.stack[-1]]),
    )


@pytest.fixture(params=[Tensor, ndarray], ids=lambda kind: kind.__module__)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The array class of a library whose current stream on GPU 0 is STREAM, and the next number on GPU 1."""
    module = types.ModuleType(request.param.__module__)
    module.cuda = streams_of([STREAM, STREAM + 1])
    module.is_grad_enabled = lambda: True
    module.empty = lambda shape, dtype: ndarray(np.full(shape, 99, dtype), Device.stack[-1])
    monkeypatch.setitem(sys.modules, request.param.__module__, module)
    return request.param


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_of_the_callers_library_on_its_stream(name: str, dtype: type, library: Any) -> None:
    op, host, there = both(name, dtype, library)
    got = op(**there)
    assert type(got) is library and got.dtype == dtype
    assert (got.numpy() == op(**host)).all()
    arrays = [value for value in there.values() if isinstance(value, library)]
    assert all(array.streams == [STREAM] for array in [*arrays, got])
    assert host_gpu.last_stream() == STREAM
    assert not host_gpu.loans


def test_all_gradients(library: Any) -> None:
    host = [np.float32(each) for each in (X, W, DY)]
    got = convgrad.conv_gradients(*(library(each) for each in host))
    for mine, wanted in zip(got, convgrad.conv_gradients(*host)):
        assert type(mine) is library
        assert (mine.numpy() == wanted).all()
    assert host_gpu.last_stream() == STREAM


def test_the_second_gpu(library: Any) -> None:
    host_gpu.driver().convgrad_host_devices(2)
    got = nn.conv2d(library(np.float32(X), 1), library(np.float32(W), 1), 1, "SAME")
    assert got.device_id == 1
    assert host_gpu.last_stream() == STREAM + 1
    assert (got.numpy() == nn.conv2d(np.float32(X), np.float32(W), 1, "SAME")).all()


def test_the_stream_is_that_of_out(library: Any) -> None:
    out = library(np.zeros_like(DY, np.float32))
    x = GpuArray(np.float32(X))
    nn.conv2d(x, GpuArray(np.float32(W)), 1, "SAME", out=out)
    assert x.streams == [STREAM] and host_gpu.last_stream() == STREAM


def test_a_gradient_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = types.SimpleNamespace(is_grad_enabled=lambda: True, cuda=streams_of([0]))
    monkeypatch.setitem(sys.modules, "torch", torch)
    x = Tensor(np.float32(X))
    x.requires_grad = True
    with pytest.raises(errors.ArgumentTypeError, match="requires grad"):
        nn.conv2d(x, Tensor(np.float32(W)), 1, "SAME")
    with pytest.raises(errors.ArgumentTypeError, match="out: got a tensor that requires grad"):
        nn.conv2d(Tensor(np.float32(X)), Tensor(np.ones((1, 1, 2, 2), np.float32)), 1, "SAME", out=x)
    torch.is_grad_enabled = lambda: False
    nn.conv2d(x, Tensor(np.float32(W)), 1, "SAME")


# ---- Plans ----

PROBLEM = "n2c2h5w5_k3r3s3_same_f32_filter_grad"


def test_a_plan_for_a_gpu() -> None:
    x, dy = np.float32(X), np.float32(DY)
    plan = convgrad.Plan(PROBLEM, gpu=0)
    assert plan.engine == "cuda" and "tensors where they lie on host machine" in plan.why
    out = GpuArray(np.zeros(plan.result_shape, plan.dtype))
    assert plan(GpuArray(x), GpuArray(dy), out=out) is out
    assert (out.numpy() == convgrad.Plan(PROBLEM)(x, dy)).all()
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        plan(x, dy)
    assert (refusal.value.rule, refusal.value.argument) == ("device", "input")


def test_a_plan_from_arrays_is_for_where_they_lie() -> None:
    call = {"input": GpuArray(np.float32(X)), "out_backprop": GpuArray(np.float32(DY)), "filter_sizes": W.shape}
    assert convgrad.Plan("Conv2DBackpropFilter", **call, **SAME).engine == "cuda"
    assert "* cuda" in convgrad.explain("Conv2DBackpropFilter", **call, **SAME)


def test_a_plan_for_the_host_takes_none_of_a_gpu() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="got memory of GPU 0, wanted memory of the host") as refusal:
        convgrad.Plan(PROBLEM)(np.float32(X), GpuArray(np.float32(DY)))
    assert (refusal.value.rule, refusal.value.argument) == ("device", "out_backprop")


def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(errors.UnimplementedError, match="there is no such GPU"):
        convgrad.Plan(PROBLEM, gpu=1)


# ---- Refusals ----


def refused(x: Any, w: Any, out: Any = None, kind: type = errors.InvalidArgumentError) -> Any:
    with pytest.raises(kind) as refusal:
        nn.conv2d(x, w, 1, "SAME", out=out)
    assert type(refusal.value) is kind, str(refusal.value)
    return refusal.value


def test_host_and_gpu_in_one_call_are_refused_by_name() -> None:
    x, w, y = (np.float32(each) for each in (X, W, DY))
    wanted = {"got": "memory of the host", "wanted": "memory of GPU 0", "rule": "device"}
    for argument, call in {
        "input": (x, GpuArray(w)),
        "filter": (GpuArray(x), w),
        "out": (GpuArray(x), GpuArray(w), y.copy()),
    }.items():
        refusal = refused(*call)
        assert refusal.argument == argument
        assert {name: getattr(refusal, name) for name in wanted} == wanted
    assert refused(x.tolist(), GpuArray(w)).argument == "input"
    assert refused(x[:, ::2], GpuArray(w)).rule == "device"
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        convgrad.conv_gradients(GpuArray(x), w, GpuArray(y))
    assert (refusal.value.rule, refusal.value.argument) == ("device", "filter")


def test_a_lender_on_the_host_beside_one_of_a_gpu_is_refused() -> None:
    class Lent:
        def __dlpack__(self, **how: object) -> object:
            return np.float32(W).__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    assert refused(GpuArray(np.float32(X)), Lent()).argument == "filter"


def test_two_gpus_in_one_call_are_refused() -> None:
    host_gpu.driver().convgrad_host_devices(2)
    refusal = refused(GpuArray(np.float32(X)), GpuArray(np.float32(W), 1), GpuArray(np.float32(DY)))
    assert (refusal.argument, refusal.got, refusal.wanted) == ("filter", "memory of GPU 1", "memory of GPU 0")


@pytest.mark.parametrize("name", ["forward", "depthwise"])
def test_strides_are_refused(name: str, library: Any) -> None:
    op, _, there = both(name, np.float32, library)
    there["filter"] = library(np.zeros((3, 3, 2, 6), np.float32)).view((3, 3, 2, 3), (36, 12, 6, 2))
    with pytest.raises(errors.InvalidArgumentError, match="filter lies in a GPU's memory and has byte_strides"):
        op(**there)


def test_odd_addresses_are_refused() -> None:
    odd = GpuArray(np.zeros(51, np.float32)).view((2, 5, 5, 1), (25, 5, 1, 1), 1)
    refusal = refused(odd, GpuArray(np.zeros((3, 3, 1, 1), np.float32)), GpuArray(np.zeros((2, 5, 5, 1), np.float32)))
    assert "misaligned" in str(refusal)


def test_element_types() -> None:
    x, w, out = GpuArray(np.float32(X)), GpuArray(np.float32(W)), GpuArray(np.float32(DY))
    assert "int64" in refused(GpuArray(np.int64(X)), w, out, errors.ArgumentTypeError).got
    assert refused(x, GpuArray(np.float64(W)), out, errors.ArgumentTypeError).rule == "dtype"
    assert refused(x, w, GpuArray(np.float64(DY)), errors.ArgumentTypeError).rule == "dtype"


def test_an_out_of_another_shape_or_shared() -> None:
    x, w = GpuArray(np.float32(X)), GpuArray(np.float32(W))
    assert refused(x, w, GpuArray(np.float32(X))).rule == "operand-shape"
    one = GpuArray(np.ones((1, 1, 2, 2), np.float32))
    assert refused(x, one, x).rule == "operand-overlap"


def test_an_out_that_may_not_be_written() -> None:
    class Constant(GpuArray):
        read_only = True

    class Array(GpuArray):
        __module__ = "jaxlib"

    for kind in (Constant, Array):
        out = kind(np.float32(DY))
        refusal = refused(GpuArray(np.float32(X)), GpuArray(np.float32(W)), out, errors.ArgumentTypeError)
        assert (refusal.argument, refusal.got) == ("out", "a read-only array")


def test_libraries_that_make_no_array_for_others_need_an_out() -> None:
    refusal = refused(GpuArray(np.float32(X)), GpuArray(np.float32(W)), None, errors.ArgumentTypeError)
    assert refusal.argument == "out" and "GpuArray" in refusal.got and "PyTorch and CuPy" in refusal.wanted


def test_an_array_that_lies_about_where_it_lies() -> None:
    class Liar(GpuArray):
        def __init__(self, values: np.ndarray) -> None:
            super().__init__(values)
            self.values = values

        def __dlpack__(self, **how: Any) -> Any:
            return self.values.__dlpack__()

    x, out = GpuArray(np.float32(X)), GpuArray(np.float32(DY))
    assert refused(x, Liar(np.float32(W)), out).argument == "filter"

    class Modest(GpuArray):
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    assert refused(np.float32(X), Modest(np.float32(W))).got == "memory of GPU 0"
    host = GpuArray(np.float32(W))
    host.memory = types.SimpleNamespace(address=types.SimpleNamespace(value=np.float32(W).ctypes.data))
    refusal = refused(x, host, out)
    assert (refusal.rule, refusal.argument, refusal.got) == ("device", "filter", "memory of the host")


def test_nothing_else_is_copied_from_a_gpu() -> None:
    class WithArray(GpuArray):
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            raise AssertionError("copied to the host")

    x = WithArray(np.float32(X))
    g = graph.Graph()
    for call in (
        lambda: raw_ops.Neg(x=x),
        lambda: g.Const(x),
        lambda: nn.conv2d_backprop_filter(np.float32(X), WithArray(np.array(W.shape)), np.float32(DY), **SAME),
    ):
        with pytest.raises(errors.InvalidArgumentError, match="got memory of GPU 0, wanted memory of the host"):
            call()


# ---- Other processes, other drivers ----


def in_child(program: str, driver: str) -> str:
    """What a process prints whose driver is another one, as it found things."""
    env = {**os.environ, "CONVGRAD_CUDA_DRIVER": driver}
    env["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), env.get("PYTHONPATH", "")])
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, env=env
    )
    assert child.returncode == 0, child.stderr
    return child.stdout


def test_without_a_gpu_the_engine_says_why() -> None:
    text = in_child(
        """
        import numpy as np
        from convgrad import Plan, conv_gradients, errors, nn
        from host_gpu import unreachable
        x, w = unreachable((1, 4, 4, 1)), unreachable((1, 1, 1, 1))
        for call in (
            lambda: nn.conv2d(x, w, 1, "SAME"),
            lambda: nn.conv2d(x, w, 1, "SAME", out=x),
            lambda: conv_gradients(x, w, x),
            lambda: Plan("n1c1h4w4_k1r1s1_same_f32_forward", gpu=0),
        ):
            try:
                call()
            except errors.UnimplementedError as refusal:
                print(refusal)
        print(nn.conv2d(np.ones((1, 4, 4, 1), "f4"), np.ones((1, 1, 1, 1), "f4"), 1, "SAME").sum())
        """,
        "/nowhere/libcuda.so",
    )
    *refusals, host = text.splitlines()
    assert len(refusals) == 4 and host == "16.0"
    assert all("cannot run on this machine" in line and "/nowhere/libcuda.so" in line for line in refusals), text


def test_numpy_arrays_go_to_a_gpu_by_name_alone() -> None:
    text = in_child(
        f"""
        import numpy as np, convgrad, host_gpu
        from definition import integers
        x, dy = np.float32(integers((2, 5, 5, 2))), np.float32(integers((2, 5, 5, 3), 2))
        wanted = convgrad.Plan({PROBLEM!r})(x, dy)
        print(host_gpu.calls("cuInit"), "cuda" in convgrad.show_config("dicts")["engines"])
        plan = convgrad.Plan({PROBLEM!r}, engine="cuda")
        print("copied to and from" in plan.why, host_gpu.calls("cuMemcpyHtoDAsync_v2"))
        print((plan(x, dy) == wanted).all(), (plan(x, np.asfortranarray(dy)) == wanted).all())
        """,
        os.environ["CONVGRAD_CUDA_DRIVER"],
    )
    assert text == "0 True\nTrue 0\nTrue True\n"

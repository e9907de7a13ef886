"""What can be seen of NVIDIA's GPUs without one: programs are lowered for them, and the custom call of GPUs finds XLA's
functions where it looks for them. Its values are those of tests/jax/gpu_handler_test.cc."""

import pathlib
import shutil
import subprocess

import jax
import numpy as np
import pytest
from jax_problems import draw, tensors

from convgrad import _jax_library, _jax_primitives

PLUGIN = pathlib.Path(__file__).parents[3] / "plugins" / "jax"


def test_both_calls_are_registered_under_one_name(monkeypatch):
    seen = []
    monkeypatch.setattr(jax.ffi, "register_ffi_target", lambda name, call, platform: seen.append((name, platform)))
    _jax_library._load()
    assert seen == [(_jax_library.TARGET, "cpu"), (_jax_library.TARGET, "CUDA")]


def test_a_step_is_lowered_to_the_same_calls():
    problem = draw(7, 2)
    x, w, dy = tensors(problem, 7)
    step = jax.jit(lambda x, w, dy: jax.vjp(problem.conv, x, w)[1](dy))
    on_cpu, on_gpu = (step.trace(x, w, dy).lower(lowering_platforms=(p,)).as_text() for p in ("cpu", "cuda"))
    assert on_gpu == on_cpu
    assert on_gpu.count("@convgrad_jax_conv(") == 2


def test_the_custom_call_of_gpus_asks_xla_for_the_stream(monkeypatch):
    """On the CPU, where XLA has none: the sentence is XLA's own, so the functions were XLA's."""
    handler = jax.ffi.pycapsule(_jax_library._LIBRARY.convgrad_jax_conv_cuda)
    jax.ffi.register_ffi_target("convgrad_on_gpu", handler, platform="cpu")
    monkeypatch.setattr(_jax_primitives, "TARGET", "convgrad_on_gpu")
    call = _jax_library.Call(2, (1,) * 4, "SAME", (), (1,) * 4, "NHWC")
    step = jax.jit(lambda x, w: _jax_primitives._call_library("output", x, w, call=call, sizes=()))
    with pytest.raises(RuntimeError, match="XLA FFI GPU context is not available"):
        step(np.ones((1, 4, 4, 1), np.float32), np.ones((1, 1, 1, 1), np.float32)).block_until_ready()


LAYOUT = """
#include <cstddef>
#include "xla/ffi/api/c_api.h"
#include "xla_ffi.h"
namespace ours = convgrad::jax::xla;
#define SAME(our, their) static_assert(offsetof(ours::GpuApi, our) == offsetof(XLA_FFI_Api, XLA_FFI_##their))
SAME(error_message, Error_GetMessage);
SAME(destroy_error, Error_Destroy);
SAME(stream, Stream_Get);
SAME(allocate, DeviceMemory_Allocate);
SAME(free, DeviceMemory_Free);
SAME(device, DeviceOrdinal_Get);
#define FIELD(our, field, their, name) static_assert(offsetof(ours::our, field) == offsetof(XLA_FFI_##their, name))
FIELD(ErrorMessageArgs, message, Error_GetMessage_Args, message);
FIELD(ErrorDestroyArgs, error, Error_Destroy_Args, error);
FIELD(StreamArgs, context, Stream_Get_Args, ctx);
FIELD(StreamArgs, stream, Stream_Get_Args, stream);
FIELD(AllocateArgs, bytes, DeviceMemory_Allocate_Args, size);
FIELD(AllocateArgs, alignment, DeviceMemory_Allocate_Args, alignment);
FIELD(AllocateArgs, data, DeviceMemory_Allocate_Args, data);
FIELD(FreeArgs, bytes, DeviceMemory_Free_Args, size);
FIELD(FreeArgs, data, DeviceMemory_Free_Args, data);
FIELD(DeviceArgs, number, DeviceOrdinal_Get_Args, device_ordinal);
FIELD(CallFrame, context, CallFrame, ctx);
"""


@pytest.mark.skipif(not shutil.which("g++") or not PLUGIN.is_dir(), reason="needs g++ and the plug-in's sources")
def test_xlas_functions_lie_where_its_header_says(tmp_path):
    source = tmp_path / "layout.cc"
    source.write_text(LAYOUT)
    folders = [f"-I{folder}" for folder in (jax.ffi.include_dir(), PLUGIN)]
    done = subprocess.run(
        ["g++", "-std=c++20", "-fsyntax-only", *folders, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]

"""convgrad's kernels inside TensorFlow, on CPU.

    import convgrad.tensorflow
    convgrad.tensorflow.install()

Unchanged models then run and train with channels first, dilation, groups and float64 in eager mode, in tf.function, in
Keras and in sessions. Code compiled by XLA (jit_compile=True) never looks for kernels and goes past these.

From the command line: `convgrad tensorflow enable` lets `import tensorflow` do it by itself in this Python environment,
`convgrad tensorflow disable` ends that.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import pathlib
import shutil
import sys
import warnings

__all__ = ["disable", "enable", "install", "stats"]

_PLUGIN = pathlib.Path(
    os.environ.get("CONVGRAD_TENSORFLOW_LIBRARY") or pathlib.Path(__file__).with_name("_tensorflow.so")
)
_LOADER = "_tensorflow_loader.so"


class _Choice(ctypes.Structure):
    """convgrad_tensorflow_choice of plugins/tensorflow/install.h."""

    _fields_ = [("forward", ctypes.c_int32), ("onednn", ctypes.c_int32), ("threads", ctypes.c_int32)]


class _Kernel(ctypes.Structure):
    """convgrad_tensorflow_kernel of plugins/tensorflow/install.h."""

    _fields_ = [
        ("op", ctypes.c_char_p),
        ("dtype", ctypes.c_char * 16),
        ("registered", ctypes.c_int32),
        ("calls", ctypes.c_uint64),
    ]


def _choice(forward: bool, onednn: bool | None, threads: int) -> _Choice:
    return _Choice(int(forward), 1 if onednn is None else 2 * int(onednn), threads)


def _library() -> ctypes.CDLL:
    if not _PLUGIN.exists():
        raise ImportError(f"this build of convgrad has no TensorFlow plug-in: {_PLUGIN} is missing")
    return ctypes.CDLL(str(_PLUGIN))


def _forget_cached_kernels() -> None:
    """Eager ops that ran before would go on with TensorFlow's kernels; functions do whatever is done here."""
    from tensorflow.python.eager import context

    running = context.context_safe()
    if running is None or not running._initialized:
        return
    running.clear_kernel_cache()
    warnings.warn(
        "TensorFlow was used before convgrad.tensorflow.install(): a tf.function or session that has run keeps "
        "TensorFlow's kernels",
        RuntimeWarning,
        stacklevel=3,
    )


def install(
    *,
    forward: bool = True,
    onednn: bool | None = None,
    remapping: bool | None = None,
    threads: int | None = None,
) -> int:
    """Registers the kernels and returns their number. Once a process: TensorFlow cannot take a kernel away again.

    forward: the forward convolutions too. Without them TensorFlow refuses a model with channels first, dilated volumes
        or groups before there is a gradient to compute.
    onednn: while oneDNN is on (TensorFlow's default on most x86-64), float32 and bfloat16 nodes get other names. None
        takes those where convgrad was measured to be no slower, True all, False none.
    remapping: False keeps TensorFlow from fusing convolution, bias and activation into one op of its own, which refuses
        groups. It is tf.config.optimizer.set_experimental_options({"remapping": False}): fusions of other ops go too,
        and sessions with a configuration of their own are not reached. None leaves TensorFlow's setting.
    threads: of one call, from convgrad's one pool; 0: one a core. None takes what
        tf.config.threading.set_intra_op_parallelism_threads has been given before.
    """
    try:
        import tensorflow as tf
    except ImportError as missing:
        raise ImportError("convgrad.tensorflow.install() needs TensorFlow, which is not installed here") from missing
    if threads is None:
        threads = tf.config.threading.get_intra_op_parallelism_threads()
    message = ctypes.create_string_buffer(512)
    count: int = _library().convgrad_tensorflow_install(
        ctypes.byref(_choice(forward, onednn, threads)), message, ctypes.c_size_t(len(message))
    )
    if count < 0:
        raise RuntimeError(message.value.decode())
    if remapping is not None:
        tf.config.optimizer.set_experimental_options({"remapping": remapping})
    _forget_cached_kernels()
    return count


def stats() -> dict[str, dict[str, int]]:
    """Calls of each registered kernel in this process so far: stats()["Conv2DBackpropFilter"]["float32"]."""
    library = _library()
    kernel = _Kernel()
    found: dict[str, dict[str, int]] = {}
    index = 0
    while library.convgrad_tensorflow_stats(index, ctypes.byref(kernel)):
        if kernel.registered:
            found.setdefault(kernel.op.decode(), {})[kernel.dtype.decode()] = kernel.calls
        index += 1
    return found


def _plugins_folder(site_packages: str | None) -> pathlib.Path:
    if site_packages is None:
        spec = importlib.util.find_spec("tensorflow")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("TensorFlow is not installed in this environment")
        site_packages = str(pathlib.Path(next(iter(spec.submodule_search_locations))).parent)
    return pathlib.Path(site_packages) / "tensorflow-plugins"


def enable(
    *, forward: bool = True, onednn: bool | None = None, threads: int = 0, site_packages: str | None = None
) -> pathlib.Path:
    """Lets every `import tensorflow` of this environment install convgrad; returns the file that does it.

    The environment variable CONVGRAD_TENSORFLOW=0 keeps a process from it.
    """
    loader = _PLUGIN.with_name(_LOADER)
    if not loader.exists():
        raise ImportError(f"this build of convgrad has no TensorFlow plug-in: {loader} is missing")
    folder = _plugins_folder(site_packages)
    folder.mkdir(exist_ok=True)
    choice = _choice(forward, onednn, threads)
    settings = f"{_PLUGIN.resolve()}\n{choice.forward} {choice.onednn} {choice.threads}\n"
    (folder / "convgrad.txt").write_text(settings)
    return pathlib.Path(shutil.copyfile(loader, folder / "convgrad.so"))


def disable(*, site_packages: str | None = None) -> bool:
    """Takes away what enable() put there; whether there was something."""
    folder = _plugins_folder(site_packages)
    files = [file for file in (folder / "convgrad.so", folder / "convgrad.txt") if file.exists()]
    for file in files:
        file.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return bool(files)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="convgrad tensorflow", description=enable.__doc__)
    parser.add_argument("action", choices=["enable", "disable"])
    parser.add_argument("--no-forward", action="store_true", help="leave the forward convolutions to TensorFlow")
    parser.add_argument(
        "--onednn", choices=["fast", "all", "none"], default="fast", help="nodes that oneDNN would take"
    )
    parser.add_argument("--threads", type=int, default=0, help="threads of one call; 0: one a core")
    parser.add_argument("--site-packages", help="folder that holds tensorflow-plugins; default: TensorFlow's own")
    given = parser.parse_args(arguments)
    onednn = {"fast": None, "all": True, "none": False}[given.onednn]
    try:
        if given.action == "enable":
            made = enable(
                forward=not given.no_forward, onednn=onednn, threads=given.threads, site_packages=given.site_packages
            )
            print(f"enabled: {made}")
        else:
            print("disabled" if disable(site_packages=given.site_packages) else "was not enabled")
    except (ImportError, OSError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

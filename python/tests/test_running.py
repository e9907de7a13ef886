"""The interpreter while the library computes: other threads run, Ctrl-C ends a call, a child of fork computes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import convgrad
from convgrad import nn


def run_child(program: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=seconds
    )


def test_other_threads_run_while_the_library_computes() -> None:
    x, w = np.ones((1, 320, 320, 32), np.float32), np.ones((5, 5, 32, 32), np.float32)
    convgrad.set_num_threads(1)  # many cores would be done too soon
    ticks, done = [0], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.0005)

    other = threading.Thread(target=tick)
    other.start()
    before = ticks[0]
    nn.conv2d(x, w, 1, "SAME")
    during = ticks[0] - before
    done.set()
    other.join()
    convgrad.set_num_threads(0)
    assert during >= 3


def test_calls_from_many_threads_give_the_same_bits() -> None:
    x, dy = np.random.default_rng(0).random((2, 40, 40, 8), np.float32), np.ones((2, 40, 40, 8), np.float32)
    wanted = nn.conv2d_backprop_filter(x, (3, 3, 8, 8), dy, [1, 1, 1, 1], "SAME")
    answers: list[np.ndarray] = []
    call = (x, (3, 3, 8, 8), dy, [1, 1, 1, 1], "SAME")
    threads = [threading.Thread(target=lambda: answers.append(nn.conv2d_backprop_filter(*call))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8 and all((answer == wanted).all() for answer in answers)


# Half a minute or more of work, unless the signal ends it.
LONG_CALLS = {
    "a convolution": "nn.conv2d(x, w, 1, 'SAME')",
    "all gradients": "convgrad.conv_gradients(x, w, np.ones((4, 512, 512, 64), np.float32))",
    "a plan": "convgrad.Plan('n4c32h512w512_k64r9s9_same_f32_forward', engine='reference')(x, w)",
    "a graph": "g.run(g.Conv2D(x, w, strides=[1] * 4, padding='SAME'))",
}


@pytest.mark.parametrize("what", LONG_CALLS)
def test_an_interrupt_ends_a_long_call(what: str) -> None:
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
                import signal
                import numpy as np, convgrad
                from convgrad import graph, nn
                signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
                g = graph.Graph()
                convgrad.set_num_threads(1)
                x, w = np.ones((4, 512, 512, 32), np.float32), np.ones((9, 9, 32, 64), np.float32)
                print("ready", flush=True)
                try:
                    for _ in range(1000):
                        {LONG_CALLS[what]}
                except KeyboardInterrupt:
                    print("interrupted", flush=True)
            """),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert out == "interrupted\n"
    assert child.returncode == 0


def test_a_handler_that_does_not_raise_lets_the_call_end() -> None:
    child = run_child("""
        import os, signal, threading
        import numpy as np
        import convgrad
        from convgrad import nn
        convgrad.set_num_threads(1)  # or many cores are done before the first signal
        seen = []
        signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
        x, w = np.ones((1, 256, 256, 32), np.float32), np.ones((7, 7, 32, 32), np.float32)
        wanted = nn.conv2d(x, w, 1, "SAME")
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        got = nn.conv2d(x, w, 1, "SAME")
        signal.setitimer(signal.ITIMER_REAL, 0)
        print((got == wanted).all(), len(seen) > 0)
    """)
    assert child.stdout == "True True\n", child.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_of_fork_computes() -> None:
    child = run_child("""
        import os, threading, warnings
        warnings.simplefilter("ignore")
        import numpy as np
        from convgrad import nn
        x, w = np.ones((1, 64, 64, 16), np.float32), np.ones((3, 3, 16, 16), np.float32)
        wanted = nn.conv2d(x, w, 1, "SAME")
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                nn.conv2d(x, w, 1, "SAME")
        thread = threading.Thread(target=busy)
        thread.start()
        codes = []
        for _ in range(10):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if (nn.conv2d(x, w, 1, "SAME") == wanted).all() else 1)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        stop.set()
        thread.join()
        print(codes)
    """)
    assert child.stdout == f"{[0] * 10}\n", child.stderr


def test_importing_imports_nothing_large() -> None:
    child = run_child("""
        import sys, convgrad, convgrad.graph
        print([name for name in ("numpy", "torch", "jax", "tensorflow", "ml_dtypes", "tqdm") if name in sys.modules])
    """)
    assert child.stdout == "[]\n", child.stderr

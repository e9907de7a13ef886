"""The rivals as processes: each is asked for one cell at a time and killed when it takes too long."""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
PREFIX = pathlib.Path(sys.prefix)  # of the virtual environment that holds the rivals
START_SECONDS = 180

ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu",
               "PYTHONDONTWRITEBYTECODE": "1"}
# The wheel of oneDNN runs its CPU kernels through SYCL and has to be told where that finds the CPU.
ONEDNN = {"ONEDNN_PEER": str(PREFIX / "onednn_peer.so"), "LD_LIBRARY_PATH": str(PREFIX / "lib"),
          "OCL_ICD_FILENAMES": str(PREFIX / "lib" / "libintelocl.so")}
RIVALS = {
    "TF-stock": ("tensorflow_peer.py", {"TF_ENABLE_ONEDNN_OPTS": "0"}),
    "TF-oneDNN": ("tensorflow_peer.py", {"TF_ENABLE_ONEDNN_OPTS": "1"}),
    "PyTorch": ("torch_peer.py", {}),
    "JAX": ("jax_peer.py", {}),
    "oneDNN": ("onednn_peer.py", ONEDNN),
}


def cores_for(threads):
    """A thread a core, the same cores for everybody."""
    return sorted(os.sched_getaffinity(0))[:threads]


def thread_environment(threads):
    one = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"} if threads == 1 else {}
    return {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), **one}


class Rival:
    def __init__(self, name, threads):
        self.name, self.threads = name, threads
        self.process, self.version, self.waiting = None, None, b""

    def start(self):
        program, environment = RIVALS[self.name]
        with open(PREFIX / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, HERE / program, str(self.threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log, env={**os.environ, **ENVIRONMENT, **thread_environment(self.threads), **environment},
                preexec_fn=lambda: os.sched_setaffinity(0, cores_for(self.threads)))
        self.waiting = b""
        answer = self.read(START_SECONDS)
        if "ready" in answer:
            self.version = answer["ready"]
        return answer

    def ask(self, request, cap):
        """The outcome of one cell, whatever becomes of the process."""
        if self.process is None:
            answer = self.start()
            if "ready" not in answer:
                return {**answer, "reason": "does not start: " + answer["reason"]}
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # read() tells how it ended
        return self.read(cap)

    def ask_fairly(self, request, cap):
        """What writes outside its memory spoils the cells after it: a process that was wrong is not asked again, and
        one that crashed gets a second chance without a past."""
        outcome = self.ask(request, cap)
        if outcome["outcome"] == "crash":
            outcome = self.ask(request, cap)
        if outcome["outcome"] == "wrong":
            self.kill()
        return outcome

    def read(self, seconds):
        end = time.monotonic() + seconds
        while b"\n" not in self.waiting:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                self.kill()
                return {"outcome": "timeout", "reason": f"longer than {seconds:g} s"}
            block = os.read(self.process.stdout.fileno(), 65536)
            if not block:
                return {"outcome": "crash", "reason": self.ending()}
            self.waiting += block
        line, self.waiting = self.waiting.split(b"\n", 1)
        return json.loads(line)

    def ending(self):
        code = self.process.wait()
        self.process = None
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

"""What nobody should pass. Each case runs in a process of its own: it must end with an exception or an answer, and with
exit code 0; a signal would show as a negative code."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from convgrad import errors, raw_ops

GIVEN = json.loads((pathlib.Path(__file__).parents[2] / "tests" / "data" / "hostile.json").read_text())["cases"]

PROLOGUE = """
import gc, os, sys, threading
import numpy as np
import convgrad
from convgrad import graph, nn, raw_ops
X = np.ones((1, 4, 4, 1), np.float32)
class Lent:
    def __init__(self, array, **lies):
        self.array, self.lies = array, lies
    def __dlpack__(self, **how):
        if "capsule" in self.lies: return self.lies["capsule"]
        if "error" in self.lies: raise self.lies["error"]
        return self.array.__dlpack__()
    def __dlpack_device__(self):
        return self.lies.get("device", (1, 0))
def gradient(x=X, sizes=(3, 3, 1, 1), dy=X, strides=(1, 1, 1, 1), padding="SAME", **more):
    return nn.conv2d_backprop_filter(x, sizes, dy, strides, padding, **more)
"""

# (a name, a program, the exceptions of which one must come; none: it must answer)
CASES = {
    "object elements": ("gradient(np.full((1, 4, 4, 1), None))", "TypeError"),
    "strings": ("gradient(np.full((1, 4, 4, 1), 'x'))", "TypeError"),
    "records": ("gradient(np.zeros((1, 4, 4, 1), [('a', 'f4')]))", "TypeError"),
    "two raw bytes": ("gradient(np.zeros((1, 4, 4, 1), 'V2'), dy=np.zeros((1, 4, 4, 1), 'V2'))", "TypeError"),
    "dates": ("gradient(np.zeros((1, 4, 4, 1), 'M8[s]'))", "TypeError"),
    "no array at all": ("gradient(object())", "TypeError"),
    "a class": ("gradient(np.float32)", "TypeError"),
    "a ragged list": ("gradient([[1], [2, 3]])", "TypeError ValueError"),
    "a list in itself": ("a = []; a.append(a); gradient(a)", "TypeError ValueError RecursionError"),
    "a list of thousand levels": (
        "a = 1.0\nfor _ in range(5000): a = [a]\ngradient(a)",
        "TypeError ValueError RecursionError MemoryError",
    ),
    "no dimensions": ("gradient(np.float32(1), dy=np.array(1, 'f4'))", "ValueError"),
    "sixty-four dimensions": ("gradient(np.ones((1,) * 64, 'f4'))", "ValueError"),
    "no elements": ("gradient(np.ones((0, 4, 4, 1), 'f4'), dy=np.ones((0, 4, 4, 1), 'f4'))", ""),
    "sizes that are not a number": ("gradient(sizes=[3, 3, 1, float('nan')])", "TypeError"),
    "infinite sizes": ("gradient(sizes=np.array([np.inf] * 4))", "TypeError"),
    "sizes of 2**63": ("gradient(sizes=[2**63 - 1] * 4)", "ValueError"),
    "sizes beyond 64 bits": ("gradient(sizes=[2**64] * 4)", "TypeError"),
    "sizes of -2**63": ("gradient(sizes=[-2**63] * 4)", "ValueError"),
    "unsigned sizes beyond 63 bits": ("gradient(sizes=np.full(4, 2**64 - 1, np.uint64))", "TypeError ValueError"),
    "a million sizes": ("gradient(sizes=[1] * 10**6)", "ValueError"),
    "sizes in a ring": ("a = [3]; a.append(a); gradient(sizes=a)", "TypeError ValueError RecursionError"),
    "an index that changes its list": (
        "class Evil:\n  def __index__(self):\n    sizes.clear()\n    return 3\n"
        "sizes = [Evil(), 3, 1, 1]\ngradient(sizes=sizes)",
        "TypeError ValueError",
    ),
    "an index that adds to its list": (
        "class Evil:\n  def __index__(self):\n    assert len(sizes) < 10**5, 'endless'\n    sizes.append(self)\n"
        "    return 3\nsizes = [Evil(), 3, 1, 1]\ngradient(sizes=sizes)",
        "",
    ),
    "a list that is twice in itself": ("a = []; a.extend([a, a]); gradient(a)", "ArgumentTypeError"),
    "sizes of ten thousand digits": ("gradient(sizes=[10**10000] * 4)", "ArgumentTypeError"),
    "an index that raises": (
        "class Evil:\n  def __index__(self): raise KeyError('no')\ngradient(sizes=[Evil(), 3, 1, 1])",
        "TypeError KeyError",
    ),
    "more memory than there is": (
        "nn.conv2d_backprop_input([1, 2**19, 2**18, 4], np.ones((1, 1, 4, 1), 'f4'), np.ones((1, 1, 1, 1), 'f4'), "
        "[1, 2**19, 2**18, 1], 'VALID')",
        "MemoryError",
    ),
    "more bytes than addresses": (
        "nn.conv2d_backprop_input([1, 2**31 - 1, 2**31 - 1, 1], np.ones((1, 1, 1, 1), 'f4'), X, [1] * 4, 'SAME')",
        "MemoryError ValueError",
    ),
    "huge strides": ("gradient(strides=[1, 2**40, 1, 1])", "ValueError"),
    "huge dilations": ("gradient(dilations=[1, 2**31 - 1, 2**31 - 1, 1], padding='VALID')", "ValueError"),
    "huge padding": ("gradient(padding=[[0, 0], [2**62, 2**62], [0, 0], [0, 0]])", "ValueError MemoryError"),
    "padding of pairs of pairs": ("gradient(padding=[[[0, 0], [0, 0]]] * 4)", "TypeError ValueError"),
    "padding of a length that raises": (
        "class Evil:\n  def __len__(self): raise KeyError('no')\n  def __getitem__(self, i): return (0, 0)\n"
        "gradient(padding=Evil())",
        "ArgumentTypeError",
    ),
    "padding without dimensions": ("gradient(padding=np.array(1))", "ArgumentTypeError"),
    "padding with a null byte": ("gradient(padding='SA\\0ME')", "ValueError"),
    "padding of half a character": ("gradient(padding='\\ud800')", "ArgumentTypeError"),
    "a type of half a character": (
        "T = type('T', (), {'__module__': '\\ud800'})\ngradient(sizes=[T()] * 4)",
        "ArgumentTypeError",
    ),
    "a fetch of half a character": (
        "T = type('T', (), {'__module__': '\\ud800'})\ngraph.Graph().run([T()])",
        "ArgumentTypeError",
    ),
    "a lender of half a character": (
        "T = type('T', (Lent,), {'__module__': '\\ud800'})\ngradient(T(X))",
        "",
    ),
    "elements of half a character": (
        "gradient(np.zeros((1, 4, 4, 1), [('\\ud800', 'f4')]))",
        "ArgumentTypeError",
    ),
    "a problem of characters of two bytes": ("convgrad.Plan('\\xe9' * 500)", "InvalidArgumentError"),
    "a subclass that never is of this byte order": (
        "A = type('A', (np.ndarray,), {'astype': lambda self, *how: self})\ngradient(X.astype('>f4').view(A))",
        "",
    ),
    "a subclass without an interface": (
        "A = type('A', (np.ndarray,), {'__array_struct__': 5})\ngradient(X.view(A))",
        "",
    ),
    "an object that says it is an array": (
        "A = type('A', (), {'__class__': np.ndarray})\ngradient(A())",
        "ArgumentTypeError",
    ),
    "an out whose class raises": (
        "class A:\n  @property\n  def __class__(self): raise KeyError('no')\ngradient(out=A())",
        "ArgumentTypeError",
    ),
    "a list that lies about its length": (
        "A = type('A', (list,), {'__len__': lambda self: 9, '__getitem__': lambda self, i: 1 / 0})\n"
        "gradient(sizes=A([3, 3, 1, 1])), raw_ops.Neg(x=A([1.0]))",
        "",
    ),
    "a tensor that stays its negative": (
        "T = type('T', (Lent,), {'__module__': 'torch', 'requires_grad': False, 'is_neg': lambda self: True})\n"
        "T.resolve_neg = lambda self: self\nnn.conv2d(T(X), X[:, :1, :1], 1, 'SAME', out=np.empty_like(X))",
        "",
    ),
    "masked elements": ("gradient(np.ma.masked_array(X, mask=X > 0))", "ArgumentTypeError"),
    "masked elements of a feed": ("raw_ops.Neg(x=np.ma.masked_array(X, mask=X > 0))", "ArgumentTypeError"),
    "an out of masked elements": (
        "gradient(out=np.ma.masked_array(np.empty((3, 3, 1, 1), 'f4'), mask=True))",
        "ArgumentTypeError",
    ),
    "a mask of nothing": ("gradient(np.ma.masked_array(X))", ""),
    "a result of sixty-five dimensions": ("raw_ops.Reshape(tensor=[1.0], shape=[1] * 65)", "ArgumentTypeError"),
    "a result of ten thousand dimensions": ("raw_ops.Reshape(tensor=[1.0], shape=[1] * 10**4)", "ArgumentTypeError"),
    "filters that are a text": ("convgrad.conv_gradients(X, 'abc', X)", "ArgumentTypeError"),
    "filters in a ring": ("a = []; a.append(a); convgrad.conv_gradients(X, a, X)", "ArgumentTypeError"),
    "more memory than this process may have": (
        "import resource\nx, w = np.ones((1, 700, 700, 16), 'f4'), np.ones((1, 1, 16, 16), 'f4')\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + 2**23, -1))\nnn.conv2d(x, w, 1, 'SAME')",
        "ResourceExhaustedError",
    ),
    "bfloat16 without its package": (
        "sys.modules['ml_dtypes'] = None\nraw_ops.Cast(x=[1.0], DstT='bfloat16')",
        "ArgumentTypeError",
    ),
    "a path with a null byte": ("graph.Graph().save('/tmp/convgrad_test\\0.json')", "ArgumentTypeError"),
    "a long format": ("gradient(data_format='N' * 10**6)", "ValueError"),
    "an empty out": ("gradient(out=np.empty((0,), 'f4'))", "ValueError"),
    "a read-only out": ("o = np.empty((3, 3, 1, 1), 'f4'); o.flags.writeable = False; gradient(out=o)", "TypeError"),
    "an out of another type": ("gradient(out=np.empty((3, 3, 1, 1), 'f8'))", "TypeError"),
    "an out of the other byte order": ("gradient(out=np.empty((3, 3, 1, 1), '>f4'))", "TypeError"),
    "an out that is the input": ("nn.conv2d(X, np.ones((1, 1, 1, 1), 'f4'), 1, 'SAME', out=X)", "ValueError"),
    "an out that overlaps the input": (
        "m = np.ones(20, 'f4')\n"
        "nn.conv2d(m[:16].reshape(1, 4, 4, 1), np.ones((1, 1, 1, 1), 'f4'), 1, 'SAME', out=m[4:].reshape(1, 4, 4, 1))",
        "ValueError",
    ),
    "an out that overlaps itself": (
        "o = np.lib.stride_tricks.as_strided(np.empty(1, 'f4'), (3, 3, 1, 1), (0, 0, 0, 0)); gradient(out=o)",
        "ValueError",
    ),
    "an out that is a list": ("gradient(out=[0.0] * 9)", "TypeError"),
    "an out turned around": ("o = np.empty((3, 3, 1, 1), 'f4')[::-1, ::-1]; gradient(out=o)", ""),
    "an input turned around": ("gradient(X[:, ::-1, ::-1, ::-1])", ""),
    "the other byte order": ("gradient(X.astype('>f4'), dy=X.astype('>f4'))", ""),
    "a capsule that is none": ("gradient(Lent(X, capsule=5))", "TypeError"),
    "a capsule used before": (
        "c = X.__dlpack__(); np.from_dlpack(Lent(X, capsule=c)); gradient(Lent(X, capsule=c))",
        "TypeError",
    ),
    "a capsule of something else": (
        "import ctypes\n"
        "new = ctypes.pythonapi.PyCapsule_New\n"
        "new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]\n"
        "gradient(Lent(X, capsule=new(1, b'other', None)))",
        "TypeError",
    ),
    "dlpack that raises": ("gradient(Lent(X, error=BufferError('gone')))", "BufferError"),
    "dlpack of a thing deleted": (
        "l = Lent(np.ones((1, 4, 4, 1), 'f4')); del l.array; gradient(l)",
        "AttributeError",
    ),
    "dlpack that says GPU and lends the host's": ("gradient(Lent(X, device=(2, 0)))", "ValueError"),
    "dlpack of two such": ("gradient(Lent(X, device=(2, 0)), dy=Lent(X, device=(2, 0)))", "ValueError"),
    "dlpack of a GPU that cannot be": ("gradient(Lent(X, device=(2, -2**31)))", "ValueError"),
    "dlpack of a device that is no pair": ("gradient(Lent(X, device='ab'))", ""),
    "dlpack of a device beyond 64 bits": ("gradient(Lent(X, device=(2, 2**70)))", ""),
    "dlpack of an unknown device": ("gradient(Lent(X, device=(99, 0)))", ""),
    "dlpack of int64": ("gradient(Lent(np.ones((1, 4, 4, 1), 'i8')))", "TypeError"),
    "dlpack of complex numbers": ("gradient(Lent(np.ones((1, 4, 4, 1), 'c8')))", "TypeError"),
    "an array whose owner is gone": (
        "x = np.ones((1, 8, 8, 2), 'f4')[:, ::2, ::2, 1:]; gc.collect(); gradient(x)",
        "",
    ),
    "a plan of the wrong arrays": (
        "p = convgrad.Plan('n1c1h4w4_k1r3s3_same_f32_filter_grad'); p(X[:, :3], X)",
        "ValueError",
    ),
    "a plan that was not made": ("convgrad.Plan.__new__(convgrad.Plan)(X, X)", "TypeError RuntimeError"),
    "a plan of nonsense": ("convgrad.Plan('\\0')", "ValueError"),
    "a problem of a million parts": ("convgrad.Plan('_' * 10**6)", "ValueError"),
    "a graph output that was not made": (
        "graph.Output.__new__(graph.Output).name",
        "TypeError RuntimeError",
    ),
    "a feed of objects": (
        "g = graph.Graph(); x = g.Placeholder(dtype='float', shape=None); g.run(x, {x: np.array([None])})",
        "TypeError",
    ),
    "a graph of a deep chain": (
        "g = graph.Graph(); y = g.Const([1.0])\nfor _ in range(20000): y = g.Neg(y)\ng.run(y)",
        "",
    ),
    "a page of nonsense": ("graph.parse('{' * 10**5)", "ValueError"),
    "a page that is not there": ("graph.load('/nowhere/page.json')", "ValueError OSError RuntimeError"),
    "a device for a page": ("graph.load('/dev/zero')", "ValueError OSError RuntimeError"),
    "threads at the end of the process": (
        "x, w = np.ones((1, 200, 200, 16), 'f4'), np.ones((3, 3, 16, 16), 'f4')\n"
        "for _ in range(4): threading.Thread(target=lambda: [nn.conv2d(x, w, 1, 'SAME') for _ in range(20)], "
        "daemon=True).start()",
        "",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_interpreter_lives(case: str) -> None:
    program, wanted = CASES[case]
    body = textwrap.indent(program, "    ")
    text = f"{PROLOGUE}\nWANTED = {wanted!r}.split()\ntry:\n{body}\nexcept Exception as error:\n"
    text += "    names = {c.__name__ for c in type(error).__mro__}\n"
    text += "    assert names & set(WANTED), repr(error)[:500]\n    assert str(error), type(error)\n"
    text += "else:\n    assert not WANTED, 'answered'\n"
    child = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert child.returncode == 0, f"exit code {child.returncode}: {child.stderr[-2000:]}"


@pytest.mark.parametrize("case", GIVEN, ids=lambda case: case["id"])
def test_advisories_against_tensorflow(case: dict[str, object]) -> None:
    tensors = {name: np.zeros(shape, case["dtype"]) for name, shape in case["tensor_shapes"].items()}
    sizes = {
        name: np.array(case[name]["value"], np.int64).reshape(case[name]["shape"])
        for name in ("filter_sizes", "input_sizes")
        if name in case
    }
    attrs = dict(case["attrs"])
    if "3D" in case["op"] and not attrs.get("explicit_paddings"):
        attrs.pop("explicit_paddings", None)
    call = {**tensors, **sizes, **attrs, "data_format": case["data_format"]}
    try:
        answer = getattr(raw_ops, case["op"])(**call)
    except errors.ConvgradError as refusal:
        assert case["expectation"] == "error"
        assert refusal.rule == case["rule"]
    else:
        assert "valid-empty" in [case["expectation"], *case.get("also_accept", [])]
        assert list(answer.shape) == case["expect_shape"]
        assert not answer.any()

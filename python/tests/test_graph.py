"""Graphs: built, saved, loaded, differentiated, run and drawn."""

from __future__ import annotations

import pathlib
import xml.etree.ElementTree as xml
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from convgrad import errors, graph, nn
from definition import integers

X = np.float32(integers((2, 5, 5, 2)))
W = np.float32(integers((3, 3, 2, 3), 1))


@pytest.fixture
def layer() -> tuple[graph.Graph, graph.Output, graph.Output, graph.Output]:
    g = graph.Graph()
    x = g.Placeholder(dtype="float", shape=[None, 5, 5, 2], name="x")
    w = g.Const(W, name="w")
    return g, x, w, g.Conv2D(x, w, strides=[1, 1, 1, 1], padding="SAME", name="y")


def test_shapes_are_known_as_far_as_they_can_be(layer: tuple) -> None:
    _, x, w, y = layer
    assert (x.shape, w.shape, y.shape) == ((None, 5, 5, 2), (3, 3, 2, 3), (None, 5, 5, 3))
    assert (y.name, y.node, y.op, y.dtype) == ("y:0", "y", "Conv2D", "float")


def test_a_run_gives_the_eager_calls_bits(layer: tuple) -> None:
    g, x, _, y = layer
    assert (g.run(y, {x: X}) == nn.conv2d(X, W, 1, "SAME")).all()


def test_gradients_are_those_of_the_eager_calls(layer: tuple) -> None:
    g, x, w, y = layer
    dx, dw = g.run(g.gradients([y], [x, w]), {x: X})
    ones = np.ones((2, 5, 5, 3), np.float32)
    assert (dx == nn.conv2d_backprop_input(X.shape, W, ones, [1] * 4, "SAME")).all()
    assert (dw == nn.conv2d_backprop_filter(X, W.shape, ones, [1] * 4, "SAME")).all()


def test_a_gradient_with_a_seed_of_its_own(layer: tuple) -> None:
    g, x, w, y = layer
    twice = g.Const(np.full((2, 5, 5, 3), 2, np.float32))
    (once,), (both,) = g.gradients(y, w), g.gradients(y, w, [twice])
    one, two = g.run([once, both], {x: X})
    assert (two == 2 * one).all()


def test_second_derivatives(layer: tuple) -> None:
    g, x, w, y = layer
    loss = g.L2Loss(y)
    (dw,) = g.gradients(loss, w)
    (ddx,) = g.gradients(dw, x)
    assert g.run(ddx, {x: X}).shape == X.shape


def test_a_page_is_saved_and_loaded(layer: tuple, tmp_path: pathlib.Path) -> None:
    g, _, _, _ = layer
    g.save(tmp_path / "page.json")
    again = graph.load(tmp_path / "page.json")
    x, y = again.output("x"), again.output("y:0")
    assert (again.run(y, {x: X}) == nn.conv2d(X, W, 1, "SAME")).all()
    text = again.text()
    assert graph.parse(text).text() == text


def test_a_page_of_the_examples() -> None:
    pages = pathlib.Path(__file__).parents[2] / "examples" / "graphs"
    (dw,) = graph.load(pages / "conv3d_backprop_filter_v2.json").run()
    assert dw.ravel()[:4].tolist() == [121040, 127840, 130848, 138176]


def test_the_code_of_a_graph_gives_its_values(layer: tuple) -> None:
    g = graph.Graph()
    w = g.Const(W)
    y = g.Conv2D(g.Const(X), w, strides=[1, 2, 2, 1], padding="SAME", name="y")
    names: dict[str, object] = {"print": lambda *_: None}
    exec(g.code("python"), names)
    assert (names["y"] == g.run(y)).all()


def test_the_code_of_padded_volumes_gives_their_values() -> None:
    g = graph.Graph()
    x, w = np.float32(integers((1, 3, 4, 4, 1))), np.float32(integers((2, 2, 2, 1, 2), 1))
    window = {"strides": [1, 1, 2, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 0, 0, 1, 2, 2, 0, 0]}
    y = g.Conv3D(x, w, **window, name="y")
    dw = g.Conv3DBackpropFilterV2(x, list(w.shape), y, **window, name="dw")
    dx = g.Conv3DBackpropInputV2(list(x.shape), w, y, **window, name="dx")
    names: dict[str, object] = {"print": lambda *_: None}
    exec(g.code("python"), names)
    for output in (y, dw, dx):
        assert (names[output.node] == g.run(output)).all()


@pytest.mark.parametrize("style", ["tensorflow", "cpp", "graphviz"])
def test_code_in_other_languages(layer: tuple, style: str) -> None:
    assert len(layer[0].code(style)) > 100


def test_variables_keep_their_values() -> None:
    g = graph.Graph()
    v = g.Variable(shape=[2], dtype="float")
    g.run(g.Assign(v, np.array([1, 2], np.float32)))
    g.run(g.ApplyGradientDescent(v, np.float32(0.5), np.array([1, 1], np.float32)))
    assert g.run(v).tolist() == [0.5, 1.5]


def test_inputs_by_the_names_of_their_pins() -> None:
    g = graph.Graph()
    total = g.AddN(inputs=[g.Const([1, 2]), [3, 4]])
    assert g.run(total).tolist() == [4, 6]
    loss, back = g.SoftmaxCrossEntropyWithLogits(features=np.zeros((1, 2)), labels=np.full((1, 2), 0.5))
    assert g.run(loss) == pytest.approx(np.log(2)) and back.shape == (1, 2)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int32, np.int64])
def test_element_types_go_in_and_come_out(dtype: type) -> None:
    g = graph.Graph()
    value = integers((2, 3)).astype(dtype)
    got = g.run(
        g.Identity(g.Const(value.astype(np.dtype(dtype).newbyteorder()) if dtype != ml_dtypes.bfloat16 else value))
    )
    assert got.dtype == dtype and (got == value).all()


def test_a_refused_node_leaves_the_graph_as_it_was(layer: tuple) -> None:
    g, x, w, y = layer
    with pytest.raises(errors.InvalidArgumentError, match="strides"):
        g.Conv2D(x, w, strides=[1, 0, 1, 1], padding="SAME")
    with pytest.raises(errors.InvalidArgumentError, match="unreachable"):
        g.gradients(y, g.Const([1.0]))
    with pytest.raises(TypeError, match="dilation"):
        g.Conv2D(x, w, strides=[1, 1, 1, 1], padding="SAME", dilation=2)
    assert g.run(y, {x: X}).shape == (2, 5, 5, 3)


def test_a_placeholder_that_is_not_fed(layer: tuple) -> None:
    g, _, _, y = layer
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        g.run(y)
    assert refusal.value.rule == "graph-feed"


def test_an_output_of_another_graph(layer: tuple) -> None:
    with pytest.raises(TypeError, match="this graph"):
        graph.Graph().run(layer[3])


def test_an_op_that_is_not_there(layer: tuple) -> None:
    with pytest.raises(AttributeError, match="Conv9D"):
        getattr(layer[0], "Conv9D")  # noqa: B009
    with pytest.raises(TypeError, match="Conv9D"):
        layer[0].add("Conv9D")
    assert "Conv3DBackpropInputV2" in dir(layer[0])


def test_outputs_outlive_their_graph(layer: tuple) -> None:
    y = graph.Graph().Const([1.0], name="alone")
    assert y.name == "alone:0"


def test_progress_is_told_after_every_node(layer: tuple) -> None:
    g, x, _, y = layer
    told = []
    g.run(y, {x: X}, progress=lambda node, done, total, seconds: told.append((node, done, total)))
    assert [done for _, done, _ in told] == list(range(1, told[-1][2] + 1))
    assert told[-1][0] == "y"


def test_an_exception_of_progress_ends_the_run(layer: tuple) -> None:
    g, x, _, y = layer
    with pytest.raises(ZeroDivisionError):
        g.run(y, {x: X}, progress=lambda *_: 1 / 0)
    assert g.run(y, {x: X}).shape == (2, 5, 5, 3)


def test_a_bar_goes_to_standard_error(layer: tuple, capfd: pytest.CaptureFixture[str]) -> None:
    g, x, _, y = layer
    g.run(y, {x: X}, progress=True)
    streams = capfd.readouterr()
    assert streams.err and not streams.out


def test_the_picture_shows_blocks_shapes_and_values(layer: tuple) -> None:
    g, x, _, y = layer
    value = g.run(y, {x: X})
    root = xml.fromstring(g._repr_html_())
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"Conv2D", "Placeholder", "Const", "x", "w", "y"} <= set(texts)
    assert "output: float[?, 5, 5, 3]" in texts
    assert any(text.startswith(f"{float(value.ravel()[0]):.4g} ") for text in texts)
    assert sum(element.tag.endswith("path") for element in root.iter()) == 2


def test_what_is_wrong_with_a_page() -> None:
    page = '{"convgrad": 1, "nodes": [{"id": "a", "op": "Relu"}, {"id": "c", "op": "Const", "attrs": {"value": 1}}]}'
    with pytest.raises(errors.InvalidArgumentError):
        graph.parse(page)
    reports = graph.infer('{"convgrad": 1, "nodes": [{"id": "a", "op": "Relu"}], "edges": []}')
    assert reports[0][0] == "a" and reports[0][1]


def test_an_input_is_given_once_by_position_or_by_name() -> None:
    g = graph.Graph()
    five, three = g.Const([5.0]), g.Const([3.0])
    assert g.run(g.Sub(five, y=three)) == g.run(g.Sub(y=three, x=five)) == [2]
    for given in ({"x": three}, {"y": three, "x": three}):
        with pytest.raises(errors.ArgumentTypeError, match="twice"):
            g.Sub(five, **given)
    with pytest.raises(errors.ArgumentTypeError, match="without"):
        g.Sub(y=three)


def test_the_values_of_nodes_are_not_for_writing() -> None:
    g = graph.Graph()
    one = g.Const([1.0])
    with pytest.raises(ValueError, match="read-only"):
        g.nodes()[0]["attrs"]["value"][0] = 2
    assert g.run(one) == [1]


@pytest.mark.parametrize("shape", [[[2, 3]], [-7], 5, [1.5], "ab"])
def test_what_is_no_shape(shape: object) -> None:
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        graph.Graph().Placeholder(dtype="float", shape=shape)
    assert refusal.value.argument == "shape"


def test_shapes_in_their_forms() -> None:
    g = graph.Graph()
    forms = [(None, 2), [-1, 2], np.array([-1, 2])]
    assert [g.Placeholder(dtype=float, shape=form).shape for form in forms] == [(None, 2)] * 3
    assert g.Placeholder(dtype=float, shape=None).dtype == "float"  # as in TensorFlow, not NumPy's double


@pytest.mark.parametrize("name", ["Const:1", "Const:-1", "Const:x", "Const:", "nothing", "", 5])
def test_what_is_no_output(name: object) -> None:
    g = graph.Graph()
    g.Const(1.0)
    assert g.output("Const") == g.output("Const:0")
    with pytest.raises(errors.ArgumentTypeError):
        g.output(name)  # type: ignore[arg-type]


def test_an_output_is_nothing_else() -> None:
    one = graph.Graph().Const(1.0)
    assert one != None  # noqa: E711
    assert one != 1


def test_paths_as_python_takes_them(tmp_path: pathlib.Path) -> None:
    g = graph.Graph()
    g.Const(1.0)
    for path in (tmp_path / "a.json", str(tmp_path / "b.json"), bytes(tmp_path / "c.json")):
        g.save(path)
        assert len(graph.load(path).nodes()) == 1
    for path in (5, None, "a\0.json"):
        for call in (g.save, graph.load):
            with pytest.raises(errors.ArgumentTypeError) as refusal:
                call(path)
            assert refusal.value.argument == "path"


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        (lambda g, y: g.run(5), "fetches"),
        (lambda g, y: g.run(y, 5), "feeds"),
        (lambda g, y: g.gradients(None, y), "outputs"),
        (lambda g, y: g.gradients(y, 5), "inputs"),
        (lambda g, y: g.gradients(y, y, 5), "grad_outputs"),
        (lambda g, y: g.Neg(y, name=5), "name"),
        (lambda g, y: g.AddN(inputs=5), "inputs"),
        (lambda g, y: g.add(5), "op"),
        (lambda g, y: g.code(5), "style"),
        (lambda g, y: graph.parse(5), "text"),
        (lambda g, y: graph.infer(None), "text"),
    ],
)
def test_graphs_refuse_by_name(wrong: Callable[[graph.Graph, graph.Output], object], argument: str) -> None:
    g = graph.Graph()
    with pytest.raises(errors.ArgumentTypeError) as refusal:
        wrong(g, g.Const([1.0]))
    assert refusal.value.argument == argument

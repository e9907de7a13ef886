"""Programs as users write them, with integer data, so that two runs that compute the same agree bit for bit.

scenes.py plain|convgrad SCENE...: prints {scene: answer}; an answer that failed is {"error": ...}.
"""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable

import numpy as np
import tensorflow as tf

import convgrad.tensorflow


def integers(*shape: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(dtype)


def keras_fit(first: bool, dtype: str) -> list:
    """Weights of two convolutions with bias and relu after one step; the loss is linear in the result."""
    keras = tf.keras
    layout = "channels_first" if first else "channels_last"
    keras.backend.set_floatx(dtype)
    x, t = integers(6, 6, 6, 2, dtype=dtype), integers(6, 6, 6, 3, seed=1, dtype=dtype)
    order = (0, 3, 1, 2)
    shape = (2, 6, 6) if first else (6, 6, 2)
    more = {"padding": "same", "data_format": layout, "activation": "relu"}
    model = keras.Sequential(
        [keras.Input(shape), keras.layers.Conv2D(4, 3, **more), keras.layers.Conv2D(3, 3, dilation_rate=2, **more)]
    )
    model.set_weights([integers(*w.shape, seed=i, dtype=dtype) for i, w in enumerate(model.get_weights())])
    model.compile(keras.optimizers.SGD(1.0), loss=lambda t, y: tf.reduce_sum(t * y))
    if first:
        x, t = x.transpose(order), t.transpose(order)
    model.fit(x, t, batch_size=6, epochs=1, shuffle=False, verbose=0)
    return [w.tolist() for w in model.get_weights()]


def convolution(first: bool, dilation: int, dtype: str = "float64") -> Callable:
    """A volume convolution with two groups where the layout is channels first."""
    data_format = "NCDHW" if first else "NDHWC"
    ones = [1] * 5
    dilations = [1, 1, *[dilation] * 3] if first else [1, *[dilation] * 3, 1]
    return lambda x, w: tf.nn.conv3d(x, w, ones, "SAME", data_format, dilations)


def mirrored_step(first: bool, dilation: int) -> dict:
    """One step of gradient descent over two replicas: the new filter, in each."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    convolve = convolution(first, dilation)
    x = integers(4, 5, 5, 5, 2)
    x = np.moveaxis(x, -1, 1) if first else x
    with strategy.scope():
        w = tf.Variable(integers(2, 2, 2, 2, 4, seed=1))

    def replica(part: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(convolve(part, w) * 3.0)
        gradient = tape.gradient(loss, w)
        context = tf.distribute.get_replica_context()
        w.assign_sub(context.all_reduce("sum", gradient))

    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(4))
    step = tf.function(lambda parts: strategy.run(replica, args=(parts,)))
    for parts in dataset:
        step(parts)
    values = [copy.numpy() for copy in strategy.experimental_local_results(w)]
    return {
        "replicas": len(values),
        "equal": all(np.array_equal(values[0], v) for v in values),
        "w": values[0].tolist(),
    }


def saved_model(first: bool) -> list:
    convolve = convolution(first, 1)

    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(integers(2, 2, 2, 2, 4, seed=1))

        @tf.function(input_signature=[tf.TensorSpec([None, None, None, None, None], tf.float64)])
        def gradient(self, x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(convolve(x, self.w) * 2.0)
            return tape.gradient(loss, self.w)

    x = integers(2, 4, 4, 4, 2)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Model(), folder)
        loaded = tf.saved_model.load(folder)
        return loaded.gradient(np.moveaxis(x, -1, 1) if first else x).numpy().tolist()


def session(first: bool) -> list:
    v1 = tf.compat.v1
    x = integers(2, 4, 4, 4, 2)
    with tf.Graph().as_default(), v1.Session() as running:
        fed = v1.placeholder(tf.float64)
        w = tf.constant(integers(2, 2, 2, 2, 4, seed=1))
        gradient = tf.gradients(tf.reduce_sum(convolution(first, 1)(fed, w) * 2.0), w)[0]
        return running.run(gradient, {fed: np.moveaxis(x, -1, 1) if first else x}).tolist()


def second_order(first: bool) -> list:
    """d/dw of |d/dx sum(y**2)|**2: gradients of gradients."""
    x, w = integers(1, 4, 4, 4, 2), tf.constant(integers(2, 2, 2, 2, 4, seed=1))
    x = tf.constant(np.moveaxis(x, -1, 1) if first else x)
    convolve = convolution(first, 1)
    with tf.GradientTape() as outer:
        outer.watch(w)
        with tf.GradientTape() as inner:
            inner.watch(x)
            loss = tf.reduce_sum(convolve(x, w) ** 2)
        size = tf.reduce_sum(inner.gradient(loss, x) ** 2)
    return outer.gradient(size, w).numpy().tolist()


def many_at_once() -> dict:
    """Sixteen independent gradients that TensorFlow may run side by side: whether all have the bits of one alone."""
    x = tf.random.stateless_normal([2, 20, 20, 8], [1, 2])
    filters = [tf.random.stateless_normal([3, 3, 8, 8], [i, 3]) for i in range(16)]

    def gradient(w: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.Conv2DBackpropInput(
            input_sizes=x.shape, filter=w, out_backprop=x, strides=[1, 1, 1, 1], padding="SAME"
        )

    alone = [gradient(w).numpy() for w in filters]
    together = tf.function(lambda *ws: [gradient(w) for w in ws], autograph=False)
    equal = all(np.array_equal(a, b.numpy()) for _ in range(20) for a, b in zip(alone, together(*filters)))
    return {"equal": equal, "digest": hashlib.sha256(b"".join(a.tobytes() for a in alone)).hexdigest()}


def bias_gradient() -> list:
    """Gradients of filter and bias in one graph, which oneDNN's rewrite makes one op with two results."""
    x, t = integers(4, 32, 32, 16, dtype="float32"), integers(4, 32, 32, 16, seed=1, dtype="float32")
    w, b = tf.Variable(integers(3, 3, 16, 16, seed=2, dtype="float32")), tf.Variable(tf.zeros([16]))

    @tf.function(autograph=False)
    def gradients(x: tf.Tensor, t: tf.Tensor) -> list:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(t * tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b) ** 2)
        return tape.gradient(loss, [w, b])

    return [gradient.numpy().tolist() for gradient in gradients(tf.constant(x), tf.constant(t))]


def constants() -> list:
    """A convolution of constants, which TensorFlow's optimizer computes while it has no session to ask for settings."""
    graph = tf.function(lambda: tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([3, 3, 1, 1]), 1, "SAME"), autograph=False)
    return graph().numpy().ravel().tolist()


def other_names() -> dict:
    """Ops that few programs name: gradients that take a tensor for its shape, transposes, 1-D, 64-bit sizes."""
    x, w = integers(1, 4, 4, 2), integers(3, 3, 2, 2, seed=1)
    v, u = integers(1, 4, 4, 4, 2), integers(3, 3, 3, 2, 2, seed=1)
    flat, deep = {"strides": [1] * 4, "padding": "SAME"}, {"strides": [1] * 5, "padding": "SAME"}
    raw = tf.raw_ops
    long = tf.constant(v.shape, tf.int64)
    pairs = {
        "Conv2DBackpropFilterV2": (
            raw.Conv2DBackpropFilterV2(input=x, filter=w, out_backprop=x, **flat),
            raw.Conv2DBackpropFilter(input=x, filter_sizes=w.shape, out_backprop=x, **flat),
        ),
        "Conv2DBackpropInputV2": (
            raw.Conv2DBackpropInputV2(input=x, filter=w, out_backprop=x, **flat),
            raw.Conv2DBackpropInput(input_sizes=x.shape, filter=w, out_backprop=x, **flat),
        ),
        "64-bit sizes": (
            raw.Conv3DBackpropInputV2(input_sizes=long, filter=u, out_backprop=v, **deep),
            tf.nn.conv3d_transpose(v, u, v.shape, 1, "SAME"),
        ),
        "int32": (
            tf.cast(raw.Conv2D(input=x.astype("int32"), filter=w.astype("int32"), **flat), "float64"),
            raw.Conv2D(input=x, filter=w, **flat),
        ),
        "1-D channels first": (
            tf.nn.conv1d(x[:, 0].transpose(0, 2, 1), w[0], 1, "SAME", "NCW"),
            tf.transpose(tf.nn.conv1d(x[:, 0], w[0], 1, "SAME"), [0, 2, 1]),
        ),
    }
    return {name: bool(np.array_equal(a, b)) for name, (a, b) in pairs.items()}


SCENES = {
    "fit last": lambda: keras_fit(False, "float64"),
    "fit first": lambda: keras_fit(True, "float64"),
    "fit last f32": lambda: keras_fit(False, "float32"),
    "fit first f32": lambda: keras_fit(True, "float32"),
    "mirrored last": lambda: mirrored_step(False, 1),
    "mirrored first": lambda: mirrored_step(True, 1),
    "mirrored first dilated": lambda: mirrored_step(True, 2),
    "saved last": lambda: saved_model(False),
    "saved first": lambda: saved_model(True),
    "session last": lambda: session(False),
    "session first": lambda: session(True),
    "second order last": lambda: second_order(False),
    "second order first": lambda: second_order(True),
    "many at once": many_at_once,
    "bias": bias_gradient,
    "constants": constants,
    "other names": other_names,
}


def answer(scene: str) -> dict:
    before = json.dumps(convgrad.tensorflow.stats())
    try:
        result = SCENES[scene]()
    except Exception as failed:  # what it is goes to the test
        return {"error": f"{type(failed).__name__}: {failed}"[:300], "called": []}
    after = convgrad.tensorflow.stats()
    called = {op for op, types in after.items() for t, n in types.items() if n > json.loads(before)[op][t]}
    return {"result": result, "called": sorted(called)}


if __name__ == "__main__":
    tf.config.threading.set_inter_op_parallelism_threads(4)
    tf.config.threading.set_intra_op_parallelism_threads(int(os.environ.get("THREADS", "2")))
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    if sys.argv[1] == "convgrad":
        convgrad.tensorflow.install(onednn=True)
    print(json.dumps({scene: answer(scene) for scene in sys.argv[2:] or SCENES}))

"""A graph with a placeholder: its gradient, second derivatives, and the file that it is."""

import numpy as np

from convgrad.graph import Graph, parse

g = Graph()
x = g.Placeholder(dtype="float", shape=[None, 6, 6, 1], name="x")
w = g.Const(np.ones((3, 3, 1, 2), np.float32), name="w")
y = g.Conv2D(x, w, strides=[1, 1, 1, 1], padding="VALID", name="y")
loss = g.L2Loss(y, name="loss")
(dw,) = g.gradients(loss, w)
(ddx,) = g.gradients(dw, x)
print(g, "y is", y.shape)

images = np.ones((2, 6, 6, 1), np.float32)
value, gradient = g.run([loss, dw], {x: images})
print("loss", value, "dw", gradient.ravel()[:3])
assert value == 9 * 9 / 2 * 16 * 2 * 2
assert (gradient == 9 * 16 * 2).all()
assert g.run(ddx, {x: images}).shape == images.shape

again = parse(g.text())
assert again.run(again.output("loss"), {again.output("x"): images}) == value

"""Plans, explain and the configuration."""

from __future__ import annotations

import numpy as np
import pytest

import convgrad
from convgrad import errors, nn
from definition import integers

X, DY = np.float32(integers((2, 9, 9, 4))), np.float32(integers((2, 5, 5, 6), 1))
CALL = {"filter_sizes": [3, 3, 4, 6], "strides": [1, 2, 2, 1], "padding": "SAME"}
WANTED = nn.conv2d_backprop_filter(X, [3, 3, 4, 6], DY, [1, 2, 2, 1], "SAME")


@pytest.mark.parametrize(
    "plan",
    [
        convgrad.Plan("n2c4h9w9_k6r3s3_st2_same_f32_filter_grad"),
        convgrad.Plan("Conv2DBackpropFilter", input=X, out_backprop=DY, **CALL),
    ],
)
def test_a_plan_gives_the_bits_of_the_call(plan: convgrad.Plan) -> None:
    assert (plan(X, DY) == WANTED).all()
    assert plan.operands == {"input": (2, 9, 9, 4), "out_backprop": (2, 5, 5, 6)}
    assert plan.result_shape == (3, 3, 4, 6)
    assert plan.dtype == np.float32
    assert plan.engine and plan.kernel and plan.why and plan.cost_us > 0 and plan.workspace_bytes >= 0
    assert "filter_grad" in repr(plan)


def test_a_plan_writes_into_out() -> None:
    plan = convgrad.Plan("n2c4h9w9_k6r3s3_st2_same_f32_filter_grad")
    out = np.empty((3, 3, 4, 6), np.float32)
    assert plan(X, DY, out=out) is out
    assert (out == WANTED).all()


def test_the_bias_gradient_takes_one_operand() -> None:
    plan = convgrad.Plan("n2c4h9w9_k6r3s3_st2_same_f32_bias_grad")
    assert (plan(DY) == DY.sum((0, 1, 2))).all()


def test_an_array_too_many_is_refused() -> None:
    with pytest.raises(errors.ArgumentTypeError, match="reads one tensor"):
        convgrad.Plan("n2c4h9w9_k6r3s3_st2_same_f32_bias_grad")(DY, DY)


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_an_engine_by_its_name(engine: str) -> None:
    plan = convgrad.Plan("n2c4h9w9_k6r3s3_st2_same_f32_filter_grad", engine=engine)
    assert plan.engine == engine
    assert (plan(X, DY) == WANTED).all()


@pytest.mark.parametrize("math", ["standard", "canonical", "tf32"])
def test_math_by_its_name(math: str) -> None:
    plan = convgrad.Plan("n2c4h9w9_k6r3s3_st2_same_f32_filter_grad", math=math)
    assert plan.math in ("standard", "canonical")  # what is done: no CPU gains from fewer bits
    assert (plan(X, DY) == WANTED).all()


def test_math_that_there_is_not() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="wanted one of: standard, canonical, tf32") as refusal:
        convgrad.Plan("n2c4h9w9_k6r3s3_st2_same_f32_filter_grad", math="tf16")
    assert (refusal.value.argument, refusal.value.got, refusal.value.rule) == ("math", '"tf16"', "policy")


def test_arrays_that_are_not_the_plans() -> None:
    plan = convgrad.Plan("n2c4h9w9_k6r3s3_st2_same_f32_filter_grad")
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        plan(X, DY[:1])
    assert (refusal.value.argument, refusal.value.rule) == ("out_backprop", "operand-shape")
    with pytest.raises(TypeError):
        plan(X.astype(np.float64), DY)
    with pytest.raises(TypeError):
        plan(X)


@pytest.mark.parametrize(
    ("what", "arguments", "match"),
    [
        ("n2c4", {}, "problem"),
        ("Conv9D", {"input": X}, "Conv9D"),
        ("Conv2D", {"input": X}, "filter"),
        ("Conv2D", {"input": X, "filter": X, "groups": 2}, "groups"),
    ],
)
def test_what_is_no_problem(what: str, arguments: dict[str, object], match: str) -> None:
    with pytest.raises((TypeError, ValueError), match=match):
        convgrad.Plan(what, **arguments)


def test_explain_tells_the_plan_and_why() -> None:
    text = convgrad.explain("n2c4h9w9_k6r3s3_st2_same_f32_filter_grad")
    assert "why" in text and "[3,3,4,6]" in text
    assert "[3,3,4,6]" in convgrad.explain("Conv2DBackpropFilter", input=X, out_backprop=DY, **CALL)


def test_the_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    convgrad.show_config()
    assert convgrad.__version__ in capsys.readouterr().out
    facts = convgrad.show_config(mode="dicts")
    assert facts["version"] == convgrad.__version__
    assert "reference" in facts["engines"]

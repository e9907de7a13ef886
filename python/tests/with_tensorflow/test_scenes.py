"""Whole programs: Keras, strategies, saved models, sessions, second order, many kernels at once."""

from collections.abc import Callable

import pytest

CHANNELS_LAST = ["fit last", "fit last f32", "mirrored last", "saved last", "session last", "second order last"]


@pytest.fixture(scope="module")
def ours(run_child: Callable, onednn: bool) -> dict:
    return run_child("scenes.py", "convgrad", onednn=onednn)


@pytest.fixture(scope="module")
def plain(run_child: Callable) -> dict:
    return run_child("scenes.py", "plain", *CHANNELS_LAST, "bias", "fit first", "mirrored first dilated", onednn=False)


def test_every_scene_answers_with_kernels_of_ours(ours: dict) -> None:
    assert {scene: answer["error"] for scene, answer in ours.items() if "error" in answer} == {}
    assert [scene for scene, answer in ours.items() if not answer["called"]] == []


@pytest.mark.parametrize("scene", CHANNELS_LAST)
def test_results_are_those_of_tensorflows_kernels(ours: dict, plain: dict, scene: str) -> None:
    assert "result" in plain[scene], plain[scene]
    assert ours[scene]["result"] == plain[scene]["result"]


@pytest.mark.parametrize("scene", CHANNELS_LAST)
def test_channels_first_gives_what_channels_last_gives(ours: dict, scene: str) -> None:
    assert ours[scene.replace("last", "first")]["result"] == ours[scene]["result"]


def test_filter_and_bias_gradient_in_one_op_are_those_of_tensorflow(ours: dict, plain: dict, onednn: bool) -> None:
    assert ours["bias"]["result"] == plain["bias"]["result"]
    assert ("_MklNativeConv2DBackpropFilterWithBias" in ours["bias"]["called"]) == onednn


def test_plain_tensorflow_does_not_train_channels_first(plain: dict) -> None:
    assert "error" in plain["fit first"]
    assert "error" in plain["mirrored first dilated"]


def test_replicas_end_with_the_same_weights(ours: dict) -> None:
    result = ours["mirrored first dilated"]["result"]
    assert result["replicas"] == 2
    assert result["equal"]


def test_kernels_that_run_side_by_side_give_the_bits_of_one_alone(ours: dict) -> None:
    assert ours["many at once"]["result"]["equal"]


def test_one_thread_gives_the_bits_of_two(run_child: Callable, ours: dict, onednn: bool) -> None:
    one = run_child("scenes.py", "convgrad", "many at once", onednn=onednn, THREADS="1")
    assert one["many at once"]["result"] == ours["many at once"]["result"]


def test_constants_are_folded_by_our_kernel(ours: dict) -> None:
    assert ours["constants"]["result"] == [4, 6, 4, 6, 9, 6, 4, 6, 4]


def test_seldom_named_ops_agree_with_their_twins(ours: dict) -> None:
    result = ours["other names"]["result"]
    assert all(result.values()), result
    assert {"Conv2DBackpropFilterV2", "Conv2DBackpropInputV2"} <= set(ours["other names"]["called"])

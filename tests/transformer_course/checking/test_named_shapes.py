"""Shapes are spoken of in the exercise's own names, where it gives them."""

import pytest
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.checking.named_shapes import (
    axis_names,
    describe_inputs,
    name_dimensions,
    output_dimensions,
)


def mix(
    query: Float[Tensor, " d"],
    keys: Float[Tensor, "*batch n_key d"],
    n_heads: int = 1,
    mask: Bool[Tensor, "*#batch #n_key"] | None = None,
) -> tuple[Float[Tensor, "*batch n_key"], Float[Tensor, ""]]: ...


class Layer(nn.Module):
    def forward(self, x: Float[Tensor, "batch n d_model"]) -> Float[Tensor, "batch d_model"]: ...


INPUTS = {"query": torch.ones(2), "keys": torch.ones(7, 3, 2), "n_heads": 5}


def test_the_dimensions_of_an_output_are_those_of_the_annotation():
    assert output_dimensions(mix) == ["*batch", "n_key"]
    assert output_dimensions(mix, index=1) == []
    assert output_dimensions(mix, index=2) == []
    assert output_dimensions(Layer) == ["batch", "d_model"]
    assert output_dimensions(lambda x: x) == []


@pytest.mark.parametrize(
    ("shape", "dimensions", "message"),
    [
        ((2, 5), "n_query d_v", "(n_query=2, d_v=5)"),
        ((5,), "d_v", "(d_v=5)"),
        ((), "", "()"),
        ((7, 2, 5), "*batch n_query d_v", "(batch=7, n_query=2, d_v=5)"),
        ((7, 3, 2, 5), "*batch n_query d_v", "(7, 3, n_query=2, d_v=5)"),
        ((2, 5), "*batch n_query d_v", "(n_query=2, d_v=5)"),
        ((2, 5), "#n_query 5", "(n_query=2, 5)"),
        ((2, 3, 5), "n_query d_v", "(2, 3, 5)"),
        ((2,), "", "(2,)"),
        ((2, 5), "{n_heads} d_v", "(n_heads=2, d_v=5)"),
    ],
)
def test_a_shape_is_written_with_its_names(shape, dimensions, message):
    assert name_dimensions(shape, dimensions.split()) == message


@pytest.mark.parametrize(
    ("n_axes", "dimensions", "names"),
    [(2, "n d", ["n", "d"]), (1, "n d", []), (4, "*batch n d", ["", "", "n", "d"]), (1, "#n", ["n"]), (0, "", [])],
)
def test_each_axis_has_a_name_if_the_dimensions_fit(n_axes, dimensions, names):
    assert axis_names(n_axes, dimensions.split()) == names


def test_inputs_are_described_by_name_and_models_left_out():
    more = {"mask": torch.ones(7, 3).bool(), "temperature": 0.123456, "model": {"stand_in": "x"}, "nothing": None}
    assert describe_inputs(mix, INPUTS) == "query (d=2), keys (batch=7, n_key=3, d=2), n_heads=5"
    assert describe_inputs(mix, {**INPUTS, **more}).endswith("n_heads=5, mask (batch=7, n_key=3), temperature=0.1235")
    assert describe_inputs(Layer, {"x": torch.ones(2, 3, 5)}) == "x (batch=2, n=3, d_model=5)"
    assert describe_inputs(mix, {}) == ""


def test_what_is_broadcast_from_the_right_does_not_take_its_first_axis_for_the_batch():
    assert describe_inputs(mix, {**INPUTS, "mask": torch.ones(4, 3).bool()}).endswith("mask (4, n_key=3)")
    assert describe_inputs(mix, {**INPUTS, "mask": torch.ones(1, 3).bool()}).endswith("mask (batch=1, n_key=3)")

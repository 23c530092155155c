"""Tests for formatting shapes with an exercise's dimension names."""

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


def test_output_dimensions_match_annotation():
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
def test_formats_shape_with_dimension_names(shape, dimensions, message):
    assert name_dimensions(shape, dimensions.split()) == message


@pytest.mark.parametrize(
    ("n_axes", "dimensions", "names"),
    [(2, "n d", ["n", "d"]), (1, "n d", []), (4, "*batch n d", ["", "", "n", "d"]), (1, "#n", ["n"]), (0, "", [])],
)
def test_names_every_dimension_or_none(n_axes, dimensions, names):
    assert axis_names(n_axes, dimensions.split()) == names


def test_describes_inputs_by_name_and_omits_models():
    more = {"mask": torch.ones(7, 3).bool(), "temperature": 0.123456, "model": {"stand_in": "x"}, "nothing": None}
    assert describe_inputs(mix, INPUTS) == "query (d=2), keys (batch=7, n_key=3, d=2), n_heads=5"
    assert describe_inputs(mix, {**INPUTS, **more}).endswith("n_heads=5, mask (batch=7, n_key=3), temperature=0.1235")
    assert describe_inputs(Layer, {"x": torch.ones(2, 3, 5)}) == "x (batch=2, n=3, d_model=5)"
    assert describe_inputs(mix, {}) == ""


def test_omits_dimension_name_if_size_differs():
    assert describe_inputs(mix, {**INPUTS, "mask": torch.ones(4, 3).bool()}).endswith("mask (4, n_key=3)")
    assert describe_inputs(mix, {**INPUTS, "mask": torch.ones(1, 3).bool()}).endswith("mask (batch=1, n_key=3)")

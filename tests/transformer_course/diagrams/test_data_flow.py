"""Tests for tracing a module's steps, its residual stream, and its parts that are never called."""

import pytest
import torch
from torch import Tensor, nn

from transformer_course.diagrams.data_flow import NOT_FOUND, Flow, flow_of, join_names
from transformer_lab.layers.encoder_layer import EncoderLayer, PreNormEncoderLayer


class TwoLinears(nn.Module):
    """A module that adds the output of one of its two parts to the input."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.used(x)


class Scaled(TwoLinears):
    def forward(self, x: Tensor) -> Tensor:
        return x + 0.5 * self.used(x)


def names_on_stream(flow: Flow) -> list[str]:
    return [flow.steps[i].name for i in flow.stream()]


def test_steps_are_inputs_parts_and_sums():
    flow = flow_of(TwoLinears())
    assert [(step.kind, step.name, step.note) for step in flow.steps] == [
        ("input", "x", "(1, 11, 8)"),
        ("part", "used", "Linear"),
        ("sum", "+", ""),
    ]
    assert flow.steps[1].reads == (("input", 0),)
    assert sorted(flow.steps[2].reads) == [("", 0), ("", 1)]
    assert flow.output == 2


def test_lists_parts_that_are_never_called():
    assert flow_of(TwoLinears()).never_called == ("unused",)


def test_stream_includes_norms_only_in_post_norm_layers():
    assert names_on_stream(flow_of(EncoderLayer(8, 2, 16))) == ["x", "+", "norm_1", "+", "norm_2"]
    assert names_on_stream(flow_of(PreNormEncoderLayer(8, 2, 16))) == ["x", "+", "+"]


def test_reports_output_with_unknown_origin():
    flow = flow_of(Scaled())
    assert flow.steps[flow.output].kind == NOT_FOUND
    assert "not found" in flow.verdict()


def test_uses_the_given_inputs():
    flow = flow_of(TwoLinears(), torch.ones(2, 3, 8))
    assert flow.steps[0].note == "(2, 3, 8)"


def test_module_without_parameters_requires_inputs():
    with pytest.raises(ValueError, match="ReLU has no parameters that determine its input width"):
        flow_of(nn.ReLU())


@pytest.mark.parametrize(("names", "joined"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_joins_names_with_commas_and_and(names: list[str], joined: str):
    assert join_names(names) == joined

"""Tests that tables of shapes are correct, and that tracing leaves the model unchanged."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.helpers.inspected_model import SIZES, SOURCE, TARGET, hooks, transformer
from transformer_lab.inspection.shapes import trace_shapes
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig


def test_lists_modules_in_calling_order():
    table = trace_shapes(transformer(), SOURCE, TARGET)
    assert list(table.columns) == ["module", "class", "input shapes", "output shape", "parameters"]
    layer = table[table.module.str.startswith("decoder.layers.1")].reset_index(drop=True)
    assert layer.module.str.removeprefix("decoder.layers.1").tolist() == [
        "",
        ".self_attention",
        *(f".self_attention.w_{letter}" for letter in "qkvo"),
        ".dropout",
        ".norm_1",
        ".cross_attention",
        *(f".cross_attention.w_{letter}" for letter in "qkvo"),
        ".dropout",
        ".norm_2",
        ".feed_forward",
        ".feed_forward.w_1",
        ".feed_forward.w_2",
        ".dropout",
        ".norm_3",
    ]
    whole = table.iloc[0].drop("parameters").tolist()
    assert whole == ["", "Transformer", "(2, 5), (2, 3)", "(2, 3, 11)"]
    cross = layer.iloc[8]
    assert cross["class"] == "MultiHeadAttention"
    assert cross["input shapes"] == "(2, 3, 12), (2, 5, 12), (2, 5, 12), (2, 1, 1, 5)"
    assert cross["output shape"] == "(2, 3, 12)"
    assert cross.parameters == 4 * (12 * 12 + 12)


def test_counts_shared_parameters_once():
    model = transformer()
    table = trace_shapes(model, SOURCE, TARGET)
    assert table.parameters[0] == sum(parameter.numel() for parameter in model.parameters())
    tied = LanguageModel(LanguageModelConfig(11, **SIZES))
    untied = LanguageModel(replace(tied.config, tie_embeddings=False))
    n_tied, n_untied = (trace_shapes(model, torch.tensor([[1, 2]])).parameters[0] for model in (tied, untied))
    assert n_untied - n_tied == 11 * 12


def test_module_called_twice_has_two_rows():
    layer = nn.Linear(3, 3)
    table = trace_shapes(nn.Sequential(layer, nn.ReLU(), layer), torch.zeros(5, 3))
    assert table["class"].tolist() == ["Sequential", "Linear", "ReLU", "Linear"]
    assert table.module.tolist() == ["", "0", "1", "0"]
    assert table.parameters.tolist() == [12, 12, 0, 12]


class Nested(nn.Module):
    """A module whose inputs and outputs are nested tuples, lists and dicts of tensors and non-tensor values."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTM(3, 5)

    def forward(self, pair: tuple[Tensor, int], *, words: dict[str, list[Tensor]], scale: float = 1.0) -> object:
        output, (h, c) = self.cell(pair[0])
        return {"all": output * scale, "last": [h, (c, None)], "sum": words["a"][0].sum(), "name": "nested"}


def test_finds_tensors_in_tuples_lists_and_dicts():
    words = {"a": [torch.zeros(11), torch.zeros(13, 2)]}
    table = trace_shapes(Nested(), (torch.zeros(7, 3), 1), words=words, scale=2.0)
    assert table["input shapes"].tolist() == ["(7, 3), (11,), (13, 2)", "(7, 3)"]
    assert table["output shape"].tolist() == ["(7, 5), (1, 5), (1, 5), ()", "(7, 5), (1, 5), (1, 5)"]


def test_traces_models_built_from_torch_layers():
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 2, 7, batch_first=True), 2).eval()
    table = trace_shapes(model, torch.zeros(2, 5, 12))
    assert table[table.module == "layers.1.linear1"]["output shape"].tolist() == ["(2, 5, 7)"]


@pytest.mark.parametrize("training", [True, False])
def test_tracing_does_not_change_the_model(training):
    model = transformer().train(training)
    model.decoder.layers[1].train(not training)
    modes = [module.training for module in model.modules()]
    before = {name: value.clone() for name, value in model.state_dict().items()}
    trace_shapes(model, SOURCE, TARGET)
    assert [module.training for module in model.modules()] == modes
    assert hooks(model) == 0
    assert all(parameter.grad is None for parameter in model.parameters())
    assert_close(dict(model.state_dict()), before)


def test_removes_hooks_after_an_error():
    model = transformer()
    with pytest.raises(ValueError, match="got 11"):
        trace_shapes(model, SOURCE, torch.tensor([[11]]).expand(2, 1))
    assert hooks(model) == 0
    assert len(trace_shapes(model, SOURCE, TARGET)) > 1


def test_tracing_computes_no_gradients():
    requires_grad = []
    model = nn.Sequential(nn.Linear(3, 5))
    model.register_forward_hook(lambda _model, _args, output: requires_grad.append(output.requires_grad))
    trace_shapes(model, torch.zeros(2, 3))
    assert requires_grad == [False]
    assert hooks(model) == 1

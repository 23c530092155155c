"""Tests that each functional layer matches its module for every weight layout."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lab.fast import functional_layers
from transformer_lab.fast.functional_layers import embed, fused_linear, linear, linear_parameters, norm_function


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("transpose", "max_size"), [(False, 35), (True, 35), (True, 34)])
def test_linear_matches_the_layer_and_copies_small_weights(bias, transpose, max_size, monkeypatch):
    monkeypatch.setattr(functional_layers, "MAX_TRANSPOSED_SIZE", max_size)
    layer, x = nn.Linear(5, 7, bias), torch.randn(3, 5)
    parameters = linear_parameters(layer.weight, layer.bias, transpose)
    assert_close(linear(x, parameters), layer(x))
    assert (parameters[0].data_ptr() != layer.weight.data_ptr()) is (transpose and max_size == 35)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("max_size", [55, 54], ids=["fused", "too large"])
@pytest.mark.parametrize("widths", [[7], [7, 3, 1]])
def test_fused_linear_concatenates_the_outputs(widths, max_size, bias, monkeypatch):
    monkeypatch.setattr(functional_layers, "MAX_FUSED_SIZE", max_size)
    layers, x = [nn.Linear(5, width, bias) for width in widths], torch.randn(3, 5)
    for transpose in (False, True):
        assert_close(fused_linear(layers, transpose)(x), torch.cat([layer(x) for layer in layers], dim=1))


@pytest.mark.parametrize("norm", [nn.LayerNorm(5, 0.1), nn.LayerNorm(5, bias=False), nn.RMSNorm(5, 0.1), nn.Identity()])
def test_norm_function_matches_the_norm(norm):
    for parameter in norm.parameters():
        nn.init.normal_(parameter)
    x = torch.randn(3, 5)
    assert_close(norm_function(norm)(x), norm(x))


def test_embed_looks_up_rows_and_rejects_unknown_ids():
    embedding = nn.Embedding(11, 5)
    assert torch.equal(embed(embedding, torch.tensor([[3], [0]])), embedding(torch.tensor([3, 0])))
    with pytest.raises(ValueError, match=r"^token ids must be from 0 to vocab_size − 1 = 10; got 11$"):
        embed(embedding, torch.tensor([[3], [11]]))

"""Tests for the standard deviations and constants with which parameters are initialized."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lab.models.initialization import initialize
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig


@pytest.mark.parametrize("learned", [False, True], ids=["sinusoids", "learned"])
def test_initial_distributions_match_the_documentation(learned):
    config = TransformerConfig(499, d_model=128, n_heads=4, d_ff=256, n_layers=1, learned_positions=learned)
    model = Transformer(config)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            bound = (6 / (module.in_features + module.out_features)) ** 0.5
            assert 0.95 * bound < module.weight.abs().max() <= bound
            assert_close(module.weight.std(), torch.tensor(bound / 3**0.5), rtol=0.05, atol=0)
            assert (module.bias == 0).all()
        elif isinstance(module, nn.Embedding):
            assert_close(module.weight.std(), torch.tensor(128**-0.5), rtol=0.05, atol=0)
        elif isinstance(module, nn.LayerNorm):
            assert (module.weight == 1).all()
            assert (module.bias == 0).all()
    if learned:
        assert_close(model.encoder.positions.std(), torch.tensor(128**-0.5), rtol=0.05, atol=0)


def test_initializes_models_without_biases():
    matrix = nn.Linear(200, 100, bias=False)
    initialize(matrix)
    assert_close(matrix.weight.std(), torch.tensor((2 / 300) ** 0.5), rtol=0.05, atol=0)

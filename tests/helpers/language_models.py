"""Create small language models in which all parameters affect the output."""

from typing import get_args

import pytest
import torch

from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig, PositionScheme

PAD = 3
POSITIONS = get_args(PositionScheme)
SMALL = LanguageModelConfig(
    vocab_size=11, d_model=12, n_heads=6, n_kv_heads=2, d_ff=7, n_layers=2, max_length=13, dropout=0.0, pad_id=PAD
)
any_positions = pytest.mark.parametrize("positions", POSITIONS)


def drawn(config: LanguageModelConfig, rng: torch.Generator) -> LanguageModel:
    """Return a float64 model in which every parameter is random and affects the output.

    With the default initialization, attention has almost no effect.
    """
    model = LanguageModel(config).double()
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float("norm" in name and "weight" in name), std=0.5, generator=rng)
    return model

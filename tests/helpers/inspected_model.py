"""Create a small model to inspect, and count the hooks on a model."""

import torch
from torch import nn

from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

SIZES = {"d_model": 12, "n_heads": 3, "d_ff": 7, "n_layers": 2, "dropout": 0.0}
SOURCE, TARGET = torch.tensor([[5, 6, 7, 8, 0], [5, 6, 0, 0, 0]]), torch.tensor([[1, 9, 10], [1, 9, 0]])


def transformer() -> Transformer:
    torch.manual_seed(0)
    return Transformer(TransformerConfig(vocab_size=11, **SIZES))


def hooks(model: nn.Module) -> int:
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())

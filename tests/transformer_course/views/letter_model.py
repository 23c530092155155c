"""A small Transformer that maps letters to letters, in the format for the browser."""

from typing import Any

import torch
from torch import Tensor

from transformer_course.views.browser_model import browser_model
from transformer_lab.generation.decode import greedy_decode
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

LETTERS = ["pad", "bos", "eos", "?", *"abcdefgh"]
BOS, EOS, UNKNOWN, LONGEST = 1, 2, 3, 7


def new_model(**changes: Any) -> Transformer:
    """Return a model with random parameters and the given settings."""
    torch.manual_seed(3)
    sizes = {"vocab_size": len(LETTERS), "d_model": 12, "n_heads": 3, "d_ff": 20, "n_layers": 2, "max_length": 16}
    model = Transformer(TransformerConfig(**{**sizes, "dropout": 0.0, "pre_norm": True, **changes})).eval()
    for parameter in model.parameters():  # the initial values of biases and norm weights would have no effect
        torch.nn.init.normal_(parameter, std=0.4)
    return model


def read(model: Transformer, text: str) -> list[Tensor]:
    """Return the source tokens and the target that the model generates."""
    source = torch.tensor([[*(LETTERS.index(letter) if letter in LETTERS else UNKNOWN for letter in text), EOS]])
    generated = greedy_decode(model, source, BOS, EOS, LONGEST)
    return [source, torch.cat([torch.tensor([[BOS]]), generated[:, :-1]], dim=1)]


def stored(model: Transformer) -> dict[str, Any]:
    """Return a model as data for the browser."""
    return browser_model(model, LETTERS.__getitem__, BOS, EOS, UNKNOWN, LONGEST)

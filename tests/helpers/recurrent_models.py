"""Create small recurrent translators in which all parameters affect the output."""

import pytest
import torch
from torch import nn

from transformer_lab.models.recurrent import AttentiveRecurrentTranslator, RecurrentTranslator

PAD, D = 3, 5
both = pytest.mark.parametrize("kind", [RecurrentTranslator, AttentiveRecurrentTranslator])


def drawn(kind: type[RecurrentTranslator], rng: torch.Generator) -> RecurrentTranslator:
    """Return a float64 model in which every parameter, including each bias, is random and affects the output."""
    model = kind(source_vocab_size=11, target_vocab_size=13, d_model=D, pad_id=PAD).double()
    for parameter in model.parameters():
        nn.init.normal_(parameter, generator=rng)
    return model

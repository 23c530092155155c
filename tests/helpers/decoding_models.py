"""Create small models for decoding tests. Their predictions differ from token to token."""

import itertools
from typing import get_args

import torch

from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig, PositionScheme
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

PAD, BOS, EOS = 0, 1, 2
SIZES = {"d_model": 24, "d_ff": 20, "n_layers": 3, "max_length": 17}
FORMS = [
    {"positions": positions, "n_heads": 6, "n_kv_heads": n_kv_heads, "pad_id": pad_id}
    for positions, (n_kv_heads, pad_id) in itertools.product(
        get_args(PositionScheme), [(None, None), (2, PAD), (1, PAD)]
    )
]
GPT = {"n_heads": 3, "positions": "learned", "norm": "layer", "feed_forward": "gelu_tanh", "pad_id": PAD}
LLAMA = {"n_heads": 6, "n_kv_heads": 2, "positions": "rotary", "norm": "rms", "feed_forward": "swiglu", "bias": False}


def name(form):
    return "-".join(str(value) for value in form.values())


def language_model(seed=0, **form):
    torch.manual_seed(seed)
    model = LanguageModel(LanguageModelConfig(11, dropout=0.1, **SIZES, **form)).eval()
    for parameter in model.parameters():  # the default initialization makes all tokens almost equally probable
        parameter.data.mul_(5.0 if parameter.dim() > 1 else 1.0)
    return model


def translator(seed=0, **options):
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(11, n_heads=3, dropout=0.1, **SIZES, **options)).eval()
    for parameter in model.parameters():
        parameter.data.mul_(2.0 if parameter.dim() > 1 else 1.0)
    return model

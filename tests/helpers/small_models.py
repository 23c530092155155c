"""Small models of every kind, with inputs, for ``test_transformations``."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig, SlidingWindow
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

TRANSLATES = TransformerConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=12, n_layers=2, max_length=16)
CONTINUES = LanguageModelConfig(vocab_size=11, d_model=8, n_heads=4, n_kv_heads=2, d_ff=12, n_layers=2, max_length=16)
CONFIGS = {
    "shared vocabulary": TRANSLATES,
    "two vocabularies, pre-norm": replace(TRANSLATES, source_vocab_size=13, pre_norm=True),
    "learned positions": replace(TRANSLATES, learned_positions=True),
    "GPT, sinusoidal": replace(CONTINUES, positions="sinusoidal"),
    "GPT, learned": replace(CONTINUES, positions="learned", tie_embeddings=True),
    "GPT, rotary": replace(CONTINUES, positions="rotary", qk_norm=True, norm="rms", feed_forward="swiglu"),
    "GPT, alibi, padding": replace(CONTINUES, positions="alibi", pad_id=0),
    "GPT, window": replace(CONTINUES, positions="rotary", window=SlidingWindow(3)),
}
Inputs = tuple[Tensor, ...]


def build(config: TransformerConfig | LanguageModelConfig) -> nn.Module:
    torch.manual_seed(0)
    model = Transformer(config) if isinstance(config, TransformerConfig) else LanguageModel(config)
    return model.double().eval()


def inputs(model: nn.Module, batch: int, n: int) -> Inputs:
    tokens = torch.randint(1, 11, (batch, n + 2), generator=torch.Generator().manual_seed(batch))
    tokens[0, -1] = 0
    return (tokens, tokens[:, :n].clone()) if isinstance(model, Transformer) else (tokens,)

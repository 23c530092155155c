"""Compute the costs of three models from the library's own classes, without allocating memory."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import torch
from torch import nn

from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

PARTS = {
    "embedding": "embedding",
    "positions": "positions",
    "self-attention": "self_attention",
    "cross-attention": "cross_attention",
    "feed-forward": "feed_forward",
    "norms": "norm",
    "output": "head",
}
"""For each part of a model, a substring that identifies its parameters."""
BYTES_PER_NUMBER = 2


class Costs(NamedTuple):
    """Sizes and costs of a model.

    Args:
        sizes: The model's sizes, keyed by their names in the code.
        parameters: Number of parameters in each part.
        flops: Operations of the matrix products with parameters in the forward pass of one token (for a translator, of
            one source token and one target token).
        flops_per_attended_token: Additional operations for each token that a token attends to, for the scores and the
            weighted sum.
        cache_bytes: Bytes that a token's 16-bit keys and values add to the cache, over all layers.
    """

    sizes: Mapping[str, int]
    parameters: Mapping[str, int]
    flops: int
    flops_per_attended_token: int
    cache_bytes: int

    @property
    def total(self) -> int:
        """Total number of parameters."""
        return sum(self.parameters.values())


@cache
def costs_of_three_models() -> dict[str, Costs]:
    """Return the costs of the original base model, GPT-2 small and Llama 3 8B.

    The base model has a shared vocabulary of 37,000 tokens, as in Vaswani et al. (2017), arXiv:1706.03762.
    """
    base = TransformerConfig(vocab_size=37_000)
    gpt2 = LanguageModelConfig.gpt2()
    llama = LanguageModelConfig.llama(128_256, n_kv_heads=8, d_ff=14_336, max_length=8192, rotary_base=500_000.0)
    with torch.device("meta"):
        return {
            "Transformer base": costs(Transformer(base), base),
            "GPT-2 small": costs(LanguageModel(gpt2), gpt2),
            "Llama 3 8B": costs(LanguageModel(llama), llama),
        }


def costs(model: nn.Module, config: TransformerConfig | LanguageModelConfig) -> Costs:
    """Return the costs of a model.

    Args:
        model: A translator with a shared vocabulary, or a language model.
        config: The model's configuration.
    """
    parameters = dict.fromkeys(PARTS, 0)
    matrices = config.vocab_size * config.d_model  # the output layer, tied or not
    for name, parameter in model.named_parameters():
        part = next(part for part, word in PARTS.items() if word in name)
        parameters[part] += parameter.numel()
        if part in ("self-attention", "cross-attention", "feed-forward") and parameter.dim() == 2:
            matrices += parameter.numel()
    n_attentions = sum(name.endswith("w_o.weight") for name, _ in model.named_parameters())
    n_kv_heads = config.n_heads
    if isinstance(config, LanguageModelConfig) and config.n_kv_heads is not None:
        n_kv_heads = config.n_kv_heads
    sizes = {name: getattr(config, name) for name in ("vocab_size", "d_model", "n_layers", "n_heads", "d_ff")}
    sizes["n_kv_heads"] = n_kv_heads
    d_kv = n_kv_heads * config.d_model // config.n_heads
    return Costs(
        sizes,
        parameters,
        flops=2 * matrices,
        flops_per_attended_token=4 * n_attentions * config.d_model,
        cache_bytes=2 * config.n_layers * d_kv * BYTES_PER_NUMBER,
    )

"""The costs of three models of the library, counted on the models themselves without allocating memory."""

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
"""Parts of a model, each with a substring of its parameters' names."""
BYTES_PER_NUMBER = 2


class Costs(NamedTuple):
    """The sizes and costs of a model.

    Args:
        sizes: Its sizes, by name in the code.
        parameters: The number of parameters in each of its parts.
        flops: Operations of the matrix products with parameters in the forward pass of one token; for a translator, of
            one source and one target token.
        flops_of_scores: Additional operations of a token per token that it attends to: scores and weighted values.
        cache_bytes: Bytes of 16-bit keys and values that a token adds to the cache, over all layers.
    """

    sizes: Mapping[str, int]
    parameters: Mapping[str, int]
    flops: int
    flops_of_scores: int
    cache_bytes: int

    @property
    def total(self) -> int:
        """The number of all parameters."""
        return sum(self.parameters.values())


@cache
def three_models() -> dict[str, Costs]:
    """Return the costs of the paper's base model, the smallest GPT-2 and the smallest Llama 3.

    The base model has the 37,000 shared tokens of Vaswani et al. (2017), arXiv:1706.03762.
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
        config: Its configuration.
    """
    parameters = dict.fromkeys(PARTS, 0)
    matrices = config.vocab_size * config.d_model  # of the output layer, tied or not
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
        flops_of_scores=4 * n_attentions * config.d_model,
        cache_bytes=2 * config.n_layers * d_kv * BYTES_PER_NUMBER,
    )

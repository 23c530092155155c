"""Tests that the costs on the page match the models, published numbers, and the formulas on the page."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from authoring.page_to_keep.counts import costs, costs_of_three_models
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

SIZES = {"vocab_size": 31, "d_model": 12, "n_heads": 6, "d_ff": 20, "n_layers": 2, "max_length": 17, "dropout": 0.0}
MODELS = {
    "a translator": (Transformer, TransformerConfig(**SIZES)),
    "GPT-2": (LanguageModel, LanguageModelConfig(**SIZES)),
    "Llama": (LanguageModel, LanguageModelConfig.llama(**SIZES, n_kv_heads=2)),
}


def test_part_parameter_counts_match_formulas():
    v, d, n, d_ff = 37_000, 512, 6, 2048
    base = costs_of_three_models()["Transformer base"].parameters
    assert base == {
        "embedding": v * d,
        "positions": 0,
        "self-attention": 2 * n * 4 * (d * d + d),
        "cross-attention": n * 4 * (d * d + d),
        "feed-forward": 2 * n * (2 * d * d_ff + d_ff + d),
        "norms": 5 * n * 2 * d,
        "output": 0,
    }
    v, d, n, d_ff = 128_256, 4096, 32, 14_336
    assert costs_of_three_models()["Llama 3 8B"].parameters == {
        "embedding": v * d,
        "positions": 0,
        "self-attention": n * (2 * d * d + 2 * d * d * 8 // 32),
        "cross-attention": 0,
        "feed-forward": n * 3 * d * d_ff,
        "norms": (2 * n + 1) * d,
        "output": v * d,
    }
    assert costs_of_three_models()["GPT-2 small"].parameters["positions"] == 1024 * 768


def test_total_parameter_counts_match_published_counts():
    totals = {name: model.total for name, model in costs_of_three_models().items()}
    assert totals == {"Transformer base": 63_082_496, "GPT-2 small": 124_439_808, "Llama 3 8B": 8_030_261_248}


@pytest.mark.parametrize("name", MODELS)
def test_operation_counts_match_torch_flop_counter(name):
    """Even with a causal mask, torch's counter includes the scores of all pairs of tokens."""
    kind, config = MODELS[name]
    model, n = kind(config).eval(), 7
    tokens = torch.randint(1, 31, (1, n))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, torch.no_grad():
        model(tokens, tokens) if kind is Transformer else model(tokens)
    counted = costs(model, config)
    assert counter.get_total_flops() == n * (counted.flops + n * counted.flops_per_attended_token)


@pytest.mark.parametrize("name", MODELS)
def test_cache_bytes_match_layer_keys_and_values(name):
    kind, config = MODELS[name]
    tables = [p for key, p in kind(config).named_parameters() if key.endswith(("w_k.weight", "w_v.weight"))]
    tables = tables[-2 * config.n_layers :] if kind is LanguageModel else tables[-4 * config.n_layers :][::2]
    assert costs(kind(config), config).cache_bytes == 2 * sum(len(table) for table in tables)

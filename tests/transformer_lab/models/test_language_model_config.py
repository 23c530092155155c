"""Tests for language model configurations: published parameter counts, options, and invalid combinations."""

from dataclasses import replace

import pytest
import torch

from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig, SlidingWindow

SMALL = LanguageModelConfig(
    vocab_size=11, d_model=12, n_heads=6, n_kv_heads=2, d_ff=7, n_layers=2, max_length=13, dropout=0.0, pad_id=3
)


def parameter_count(config: LanguageModelConfig) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in LanguageModel(config).parameters())


def test_gpt2_has_the_published_parameter_count():
    assert parameter_count(LanguageModelConfig.gpt2()) == 124_439_808


def test_llama2_has_the_published_parameter_count():
    assert parameter_count(LanguageModelConfig.llama()) == 6_738_415_616


def test_llama3_has_the_published_parameter_count():
    llama3 = LanguageModelConfig.llama(128_256, n_kv_heads=8, d_ff=14_336, max_length=8192, rotary_base=500_000.0)
    assert parameter_count(llama3) == 8_030_261_248


def test_bias_false_removes_every_bias():
    def biases(**others: object) -> list[str]:
        model = LanguageModel(replace(SMALL, n_layers=1, **others))
        return [name for name, _ in model.named_parameters() if "bias" in name]

    assert len(biases()) == 4 + 2 + 2 + 1  # attention, feed-forward network, the block's norms, final norm
    assert biases(bias=False) == []
    assert len(biases(norm="rms", feed_forward="swiglu")) == 4


def test_qkv_bias_is_independent_of_bias():
    def biased(**others: object) -> set[str]:
        attention = LanguageModel(replace(SMALL, **others)).blocks[1].self_attention
        return {name.removesuffix(".bias") for name, _ in attention.named_parameters() if name.endswith("bias")}

    assert biased(bias=False, qkv_bias=True) == {"w_q", "w_k", "w_v"}
    assert biased(bias=True, qkv_bias=False) == {"w_o"}


def test_norm_placement_selects_the_norms():
    def norms(**others: object) -> list[str]:
        block = LanguageModel(replace(SMALL, norm="rms", **others)).blocks[1]
        return [name.removesuffix(".weight") for name, _ in block.named_parameters() if "norm" in name]

    assert norms() == ["norm_1", "norm_2"]
    assert norms(norm_placement="after") == ["post_norm_1", "post_norm_2"]
    assert norms(norm_placement="both") == ["norm_1", "post_norm_1", "norm_2", "post_norm_2"]
    assert norms(qk_norm=True) == ["norm_1", "self_attention.norm_q", "self_attention.norm_k", "norm_2"]


def test_d_k_is_independent_of_d_model():
    for d_k in (1, 5):
        attention = LanguageModel(replace(SMALL, d_k=d_k)).blocks[0].self_attention
        assert attention.w_q.weight.shape == (6 * d_k, 12)
        assert attention.w_k.weight.shape == attention.w_v.weight.shape == (2 * d_k, 12)
        assert attention.w_o.weight.shape == (12, 6 * d_k)
    LanguageModel(replace(SMALL, d_k=2, d_model=7))(torch.tensor([[1, 2]]))  # 6 heads need not divide 7


@pytest.mark.parametrize("pattern", [(True,), (True, False), (False, True, True)])
def test_local_block_pattern_repeats(pattern):
    config = replace(SMALL, window=SlidingWindow(3, pattern))
    assert [config.is_local(i) for i in range(7)] == list(pattern * 7)[:7]
    assert not any(SMALL.is_local(i) for i in range(7))


@pytest.mark.parametrize(
    "wrong, message",
    [((0,), "got size=0"), ((3, (True,), 0.0), r"got rotary_base=0\.0"), ((3, ()), r"must not be empty.* got \(\)")],
    ids=str,
)
def test_rejects_invalid_window(wrong, message):
    with pytest.raises(ValueError, match=message):
        SlidingWindow(*wrong)


def test_tie_embeddings_shares_the_last_layer_weights():
    tied, untied = LanguageModel(SMALL), LanguageModel(replace(SMALL, tie_embeddings=False))
    assert tied.head.weight is tied.embedding.weight
    assert untied.head.weight is not untied.embedding.weight
    assert parameter_count(replace(SMALL, tie_embeddings=False)) - parameter_count(SMALL) == 11 * 12


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"norm": "batch"}, "norm must be one of layer, rms; got norm='batch'"),
        ({"positions": "rope"}, "one of learned, sinusoidal, rotary, alibi, none; got positions='rope'"),
        ({"feed_forward": "glu"}, "one of relu, gelu, gelu_tanh, silu, swiglu, geglu; got feed_forward='glu'"),
        ({"norm_placement": "between"}, "one of before, after, both; got norm_placement='between'"),
        ({"n_kv_heads": 4}, "n_kv_heads must divide n_heads; got n_heads=6, n_kv_heads=4"),
        ({"d_k": 0}, "d_k must be positive; got d_k=0"),
        ({"d_k": 5, "positions": "rotary"}, "even number of features in each head; got d_k=5"),
        ({"n_kv_heads": 0}, "n_heads=6, n_kv_heads=0"),
        ({"n_heads": 5}, "n_heads must divide d_model; got d_model=12, n_heads=5"),
        ({"d_model": 18, "positions": "rotary"}, "even number of features in each head; got d_model=18, n_heads=6"),
        ({"d_model": 15, "n_heads": 3, "n_kv_heads": 1, "positions": "sinusoidal"}, "got d=15"),
        ({"pad_id": 11}, "pad_id must be a token id from 0 to 10; got pad_id=11"),
        ({"pad_id": -1}, "from 0 to 10; got pad_id=-1"),
        *(({name: 0}, f"{name} must be positive; got {name}=0") for name in ("vocab_size", "d_model", "n_heads")),
        *(({name: -1}, f"{name} must be positive; got {name}=-1") for name in ("d_ff", "n_layers", "max_length")),
    ],
    ids=str,
)
def test_rejects_invalid_configuration(wrong, message):
    with pytest.raises(ValueError, match=message):
        LanguageModel(replace(SMALL, **wrong))


def test_odd_head_width_is_allowed_without_rotation():
    LanguageModel(replace(SMALL, d_model=18, positions="alibi"))(torch.tensor([[1, 2]]))

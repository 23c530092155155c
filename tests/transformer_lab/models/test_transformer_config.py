"""Tests that configurations match the paper's sizes and reject invalid values."""

import pytest

from transformer_lab.models.transformer_config import TransformerConfig


def test_base_and_big_match_the_paper_table():
    base, big = TransformerConfig.base(37_000), TransformerConfig.big(37_000)
    sizes = ["n_layers", "d_model", "d_ff", "n_heads", "dropout"]
    assert [getattr(base, size) for size in sizes] == [6, 512, 2048, 8, 0.1]
    assert [getattr(big, size) for size in sizes] == [6, 1024, 4096, 16, 0.3]
    assert TransformerConfig.big(37_000, dropout=0.1, d_model=2048).d_model == 2048
    assert base.attention_dropout == big.attention_dropout == 0


@pytest.mark.parametrize("name", ["vocab_size", "d_model", "n_heads", "d_ff", "n_layers", "max_length"])
def test_rejects_sizes_below_1(name):
    with pytest.raises(ValueError, match=f"{name} must be positive; got {name}=0"):
        TransformerConfig(**({"vocab_size": 11} | {name: 0}))


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"target_pad_id": 11}, "target_pad_id must be a token id from 0 to 10; got target_pad_id=11"),
        ({"source_pad_id": 11}, "source_pad_id must be a token id from 0 to 10; got source_pad_id=11"),
        ({"source_vocab_size": 5, "source_pad_id": 5}, "from 0 to 4; got source_pad_id=5"),
        ({"feed_forward": "tanh"}, "must be one of relu, gelu, gelu_tanh, silu; got feed_forward='tanh'"),
    ],
)
def test_rejects_invalid_configuration(others, message):
    with pytest.raises(ValueError, match=message):
        TransformerConfig(11, **others)

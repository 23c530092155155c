"""Tests for the initialization, dropout and dtypes of language models, and tests that every variant learns."""

import math
from dataclasses import replace
from itertools import product
from typing import get_args

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.language_models import PAD, POSITIONS, SMALL, any_positions, drawn
from tests.helpers.thoroughness import one_in
from transformer_lab.layers.feed_forward import FeedForwardName
from transformer_lab.layers.norms import NormName
from transformer_lab.models.language_model import LanguageModel

FEED_FORWARDS = get_args(FeedForwardName)


@pytest.mark.parametrize(  # every 7th of 60 combinations, which covers each position, norm and feed-forward network
    "kind", one_in(7, product(POSITIONS, get_args(NormName), FEED_FORWARDS)), ids=" ".join
)
def test_every_variant_learns_in_one_step(kind):
    positions, norm, feed_forward = kind
    torch.manual_seed(0)
    tokens = torch.tensor([[1, 2, 4, 5, 6], [7, 8, PAD, PAD, PAD]])

    def loss(model: LanguageModel) -> Tensor:
        return F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:], ignore_index=PAD)

    for bias, tied, n_kv_heads, pad_id in product([True, False], [True, False], [None, 1], [None, PAD]):
        named = {
            "positions": positions,
            "norm": norm,
            "feed_forward": feed_forward,
            "bias": bias,
            "tie_embeddings": tied,
        }
        model = LanguageModel(replace(SMALL, **named, n_kv_heads=n_kv_heads, pad_id=pad_id))
        before = loss(model)
        before.backward()
        for name, parameter in model.named_parameters():  # a bias that all keys share cancels in the softmax
            assert (parameter.grad != 0).any() or name.endswith("w_k.bias")
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        assert loss(model) < before


def test_initial_parameters_match_gpt2():
    torch.manual_seed(0)
    config = replace(SMALL, vocab_size=97, d_model=120, d_ff=240, n_layers=8, max_length=101, tie_embeddings=False)
    for feed_forward in FEED_FORWARDS:
        for name, parameter in LanguageModel(replace(config, feed_forward=feed_forward)).named_parameters():
            if parameter.dim() == 1:
                assert (parameter == (0 if name.endswith("bias") else 1)).all()
            else:
                is_residual = name.endswith(("w_o.weight", "w_2.weight", "w_down.weight"))
                assert parameter.std().item() == pytest.approx(0.02 / math.sqrt(16) if is_residual else 0.02, rel=0.05)
                assert abs(parameter.mean().item()) < 0.001


@any_positions
def test_initial_predictions_are_nearly_uniform(positions):
    torch.manual_seed(0)
    logits = LanguageModel(replace(SMALL, positions=positions))(torch.randint(0, 11, (7, 13)))
    assert logits.softmax(dim=-1).sub(1 / 11).abs().max() < 0.05


def test_positions_do_not_dominate_the_tokens():
    """Scale the embeddings, because sinusoids are much larger. Unscaled embeddings would make up only 1/50 of the
    blocks' input.
    """
    torch.manual_seed(0)
    model = LanguageModel(replace(SMALL, d_model=516, positions="sinusoidal"))
    x = []
    model.blocks[0].register_forward_pre_hook(lambda _block, args: x.append(args[0]))
    model(torch.tensor([[1, 2, 4], [5, 6, 7]]))
    token_distance, position_distance = (x[0][0] - x[0][1]).norm(), (x[0][:, 0] - x[0][:, 2]).norm()
    assert token_distance > position_distance / 3


@pytest.mark.parametrize("option", ["dropout", "attention_dropout"])
def test_dropout_is_active_only_in_training(option):
    torch.manual_seed(0)
    model = drawn(replace(SMALL, **{option: 0.5}), torch.Generator().manual_seed(0))
    tokens = torch.tensor([[1, 2, 4, 5]])
    assert not torch.allclose(model(tokens), model(tokens))
    model.eval()
    assert_close(model(tokens), drawn(SMALL, torch.Generator().manual_seed(0))(tokens))


def test_dropout_applies_to_embeddings_and_sublayer_outputs():
    model = LanguageModel(replace(SMALL, dropout=0.5, attention_dropout=0.25))
    observed = []
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Dropout):
            module.register_forward_hook(lambda _module, _args, _output, name=name: observed.append(name))
    model(torch.tensor([[1, 2]]))
    assert observed == ["dropout", "blocks.0.dropout", "blocks.0.dropout", "blocks.1.dropout", "blocks.1.dropout"]


@any_positions
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_computes_in_the_parameter_dtype(positions, dtype):
    torch.manual_seed(0)
    model = LanguageModel(replace(SMALL, positions=positions))
    tokens = torch.tensor([[1, 2, 4, 5], [PAD, 6, 7, 8]])
    exact = model(tokens)
    logits = model.to(dtype)(tokens)
    assert logits.dtype == dtype
    assert_close(logits.float(), exact, rtol=0, atol=0.02 * exact.abs().max().item())


@any_positions
def test_computes_under_autocast(positions):
    torch.manual_seed(0)
    model = LanguageModel(replace(SMALL, positions=positions))
    tokens = torch.tensor([[1, 2, 4, 5], [PAD, 6, 7, 8]])
    exact = model(tokens)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(tokens)
    assert logits.dtype == torch.bfloat16
    assert_close(logits.float(), exact, rtol=0, atol=0.02 * exact.abs().max().item())

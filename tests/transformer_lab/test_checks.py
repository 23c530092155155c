"""Tests that argument checks accept valid arguments, and that errors contain the values of invalid arguments."""

import re
from dataclasses import dataclass
from typing import Literal

import pytest
import torch

from transformer_lab.checks import (
    check_fields,
    check_length,
    check_not_negative,
    check_positive,
    check_sequences,
    check_token_id,
    check_tokens,
    check_width,
)


@pytest.mark.parametrize(
    "tokens",
    [
        torch.tensor([[0, 10, 5]], dtype=torch.int32),
        torch.zeros(0, 3, dtype=torch.int64),
        torch.zeros(2, 7, dtype=torch.int64),
        torch.zeros(2, 3, dtype=torch.int64, device="meta"),
    ],
    ids=["int32", "empty batch", "maximum length", "meta device"],
)
def test_accepts_tokens_up_to_the_maximum_length(tokens):
    check_tokens(tokens, max_length=7)


@pytest.mark.parametrize(
    "tokens, message",
    [
        (torch.zeros(2, 8).long(), "the model accepts 1 to 7 tokens (max_length); got 8"),
        (torch.zeros(2, 0).long(), "the model accepts 1 to 7 tokens (max_length); got 0"),
        (torch.zeros(2, 3), "tokens must be int64 of shape (batch, n); got torch.float32 of shape (2, 3)"),
        (torch.zeros(2, 3).bool(), "tokens must be int64 of shape (batch, n); got torch.bool of shape (2, 3)"),
        (torch.zeros(3).long(), "tokens must be int64 of shape (batch, n); got torch.int64 of shape (3,)"),
        (torch.zeros(2, 3, 1).long(), "tokens must be int64 of shape (batch, n); got torch.int64 of shape (2, 3, 1)"),
        (torch.zeros(2, 8, device="meta").long(), "the model accepts 1 to 7 tokens (max_length); got 8"),
    ],
    ids=["too long", "empty", "floats", "booleans", "1 dimension", "3 dimensions", "meta device"],
)
def test_rejects_invalid_tokens(tokens, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_tokens(tokens, max_length=7)


@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 7), (2, 2, 3, 8)], ids=str)
def test_rejects_inputs_that_are_not_batches_of_sequences(shape):
    check_sequences(8, x=torch.zeros(2, 3, 8), y=torch.zeros(0, 3, 8))
    with pytest.raises(ValueError, match=re.escape(f"y must have shape (batch, n, d_model=8); got shape {shape}")):
        check_sequences(8, x=torch.zeros(2, 3, 8), y=torch.zeros(shape))


def test_rejects_vectors_with_the_wrong_width():
    check_width("d_model", 8, query=torch.zeros(8), key=torch.zeros(2, 3, 8))
    for wrong in [torch.zeros(2, 3, 7), torch.zeros(8, 7), torch.zeros(())]:
        with pytest.raises(
            ValueError,
            match=f"^the last dimension of key must be d_model=8; got shape {re.escape(str((*wrong.shape,)))}$",
        ):
            check_width("d_model", 8, query=torch.zeros(8), key=wrong)


@pytest.mark.parametrize("n_tokens", [0, -1, 8])
def test_rejects_lengths_outside_the_model_range(n_tokens):
    check_length(1, max_length=7)
    check_length(7, max_length=7)
    with pytest.raises(ValueError, match=rf"1 to 7 tokens \(max_length\); got {n_tokens}"):
        check_length(n_tokens, max_length=7)


def test_error_names_the_first_nonpositive_size():
    check_positive(d_model=1, n_heads=2)
    with pytest.raises(ValueError, match=r"^n_heads must be positive; got n_heads=0$"):
        check_positive(d_model=1, n_heads=0, d_ff=-1)


@pytest.mark.parametrize("value", [-1, float("nan")])
def test_error_names_the_first_negative_size(value):
    check_not_negative(max_new_tokens=0, rate=0.5)
    with pytest.raises(ValueError, match=f"^rate must not be negative; got rate={value}$"):
        check_not_negative(max_new_tokens=0, rate=value, decay=-2)


@pytest.mark.parametrize("token_id", [-1, 11])
def test_rejects_token_id_outside_the_vocabulary(token_id):
    check_token_id("pad_id", 0, vocab_size=11)
    check_token_id("pad_id", 10, vocab_size=11)
    with pytest.raises(ValueError, match=f"^pad_id must be a token id from 0 to 10; got pad_id={token_id}$"):
        check_token_id("pad_id", token_id, vocab_size=11)


@dataclass
class Config:
    """A configuration with an integer field and two literal fields."""

    width: int
    norm: Literal["layer", "rms"] = "layer"
    positions: Literal["learned", "rotary"] = "learned"


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"norm": "batch"}, "norm must be one of layer, rms; got norm='batch'"),
        ({"positions": None}, "positions must be one of learned, rotary; got positions=None"),
    ],
)
def test_rejects_field_value_not_in_literal_type(wrong, message):
    check_fields(Config(3, "rms", "rotary"))
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_fields(Config(3, **wrong))

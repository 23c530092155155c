"""What no model can take is refused, and what it can take is not."""

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
    ids=["int32", "no sentence", "the longest", "elsewhere"],
)
def test_tokens_that_are_not_too_many_are_fine(tokens):
    check_tokens(tokens, max_length=7)


@pytest.mark.parametrize(
    "tokens, message",
    [
        (torch.zeros(2, 8).long(), "this model takes 1 to max_length=7 tokens; got 8"),
        (torch.zeros(2, 0).long(), "this model takes 1 to max_length=7 tokens; got 0"),
        (torch.zeros(2, 3), "tokens must be int64 of shape (batch, n); got torch.float32 of shape (2, 3)"),
        (torch.zeros(2, 3).bool(), "tokens must be int64 of shape (batch, n); got torch.bool of shape (2, 3)"),
        (torch.zeros(3).long(), "tokens must be int64 of shape (batch, n); got torch.int64 of shape (3,)"),
        (torch.zeros(2, 3, 1).long(), "tokens must be int64 of shape (batch, n); got torch.int64 of shape (2, 3, 1)"),
        (torch.zeros(2, 8, device="meta").long(), "this model takes 1 to max_length=7 tokens; got 8"),
    ],
    ids=["too long", "empty", "numbers", "truths", "1 axis", "3 axes", "elsewhere"],
)
def test_tokens_that_no_model_can_take_are_named(tokens, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_tokens(tokens, max_length=7)


@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 7), (2, 2, 3, 8)], ids=str)
def test_what_is_no_batch_of_sequences_is_named(shape):
    check_sequences(8, x=torch.zeros(2, 3, 8), y=torch.zeros(0, 3, 8))
    with pytest.raises(ValueError, match=re.escape(f"y must be of shape (batch, n, d_model=8); got shape {shape}")):
        check_sequences(8, x=torch.zeros(2, 3, 8), y=torch.zeros(shape))


def test_vectors_of_another_width_are_named():
    check_width("d_model", 8, query=torch.zeros(8), key=torch.zeros(2, 3, 8))
    for wrong in [torch.zeros(2, 3, 7), torch.zeros(8, 7), torch.zeros(())]:
        with pytest.raises(
            ValueError, match=f"^key must be d_model=8 wide; got shape {re.escape(str(tuple(wrong.shape)))}$"
        ):
            check_width("d_model", 8, query=torch.zeros(8), key=wrong)


@pytest.mark.parametrize("n_tokens", [0, -1, 8])
def test_lengths_that_a_model_does_not_have_are_named(n_tokens):
    check_length(1, max_length=7)
    check_length(7, max_length=7)
    with pytest.raises(ValueError, match=f"1 to max_length=7 tokens; {n_tokens} were asked for"):
        check_length(n_tokens, max_length=7)


def test_the_first_size_that_is_not_positive_is_named():
    check_positive(d_model=1, n_heads=2)
    with pytest.raises(ValueError, match=r"^n_heads must be positive; got n_heads=0$"):
        check_positive(d_model=1, n_heads=0, d_ff=-1)


@pytest.mark.parametrize("value", [-1, float("nan")])
def test_the_first_size_that_is_negative_is_named(value):
    check_not_negative(max_new_tokens=0, rate=0.5)
    with pytest.raises(ValueError, match=f"^rate must not be negative; got rate={value}$"):
        check_not_negative(max_new_tokens=0, rate=value, decay=-2)


@pytest.mark.parametrize("token_id", [-1, 11])
def test_a_token_outside_the_vocabulary_is_named(token_id):
    check_token_id("pad_id", 0, vocab_size=11)
    check_token_id("pad_id", 10, vocab_size=11)
    with pytest.raises(ValueError, match=f"^pad_id must be a token, from 0 to 10; got pad_id={token_id}$"):
        check_token_id("pad_id", token_id, vocab_size=11)


@dataclass
class Config:
    """Fields with choices and without."""

    width: int
    norm: Literal["layer", "rms"] = "layer"
    places: Literal["learned", "rotary"] = "learned"


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"norm": "batch"}, "norm must be one of layer, rms; got norm='batch'"),
        ({"places": None}, "places must be one of learned, rotary; got places=None"),
    ],
)
def test_fields_with_literal_choices_hold_one_of_them(wrong, message):
    check_fields(Config(3, "rms", "rotary"))
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_fields(Config(3, **wrong))

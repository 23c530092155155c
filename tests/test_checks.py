"""What no model can take is refused, and what it can take is not."""

import re

import pytest
import torch

from transformer_lab.checks import check_tokens, check_width


@pytest.mark.parametrize(
    "tokens",
    [
        torch.tensor([[0, 10, 5]]),
        torch.tensor([[0, 10, 5]], dtype=torch.int32),
        torch.zeros(0, 3, dtype=torch.int64),
        torch.zeros(2, 7, dtype=torch.int64),
        torch.zeros(2, 3, dtype=torch.int64, device="meta"),  # there is nothing to look at
    ],
    ids=["all of the vocabulary", "int32", "no sentence", "the longest", "elsewhere"],
)
def test_tokens_of_the_vocabulary_that_are_not_too_many_are_fine(tokens):
    check_tokens(tokens, vocab_size=11, max_length=7)


@pytest.mark.parametrize(
    "tokens, message",
    [
        (torch.tensor([[0, 11]]), "token ids go from 0 to vocab_size − 1 = 10; got 11"),
        (torch.tensor([[0, -1]]), "token ids go from 0 to vocab_size − 1 = 10; got -1"),
        (torch.tensor([[99, -1]]), "token ids go from 0 to vocab_size − 1 = 10; got -1"),
        (torch.zeros(2, 8).long(), "this model takes 1 to max_length=7 tokens; got 8"),
        (torch.zeros(2, 0).long(), "this model takes 1 to max_length=7 tokens; got 0"),
        (torch.zeros(2, 3), "tokens must be int64 of shape (batch, n); got torch.float32 of shape (2, 3)"),
        (torch.zeros(2, 3).bool(), "tokens must be int64 of shape (batch, n); got torch.bool of shape (2, 3)"),
        (torch.zeros(3).long(), "tokens must be int64 of shape (batch, n); got torch.int64 of shape (3,)"),
        (torch.zeros(2, 3, 1).long(), "tokens must be int64 of shape (batch, n); got torch.int64 of shape (2, 3, 1)"),
        (torch.zeros(2, 8, device="meta").long(), "this model takes 1 to max_length=7 tokens; got 8"),
    ],
    ids=["too high", "negative", "both", "too long", "empty", "numbers", "truths", "1 axis", "3 axes", "elsewhere"],
)
def test_tokens_that_no_model_can_take_are_named(tokens, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_tokens(tokens, vocab_size=11, max_length=7)


def test_vectors_of_another_width_are_named():
    check_width("d_model", 8, query=torch.zeros(8), key=torch.zeros(2, 3, 8))
    for wrong in [torch.zeros(2, 3, 7), torch.zeros(8, 7), torch.zeros(())]:
        with pytest.raises(
            ValueError, match=f"^key must be d_model=8 wide; got shape {re.escape(str(tuple(wrong.shape)))}$"
        ):
            check_width("d_model", 8, query=torch.zeros(8), key=wrong)

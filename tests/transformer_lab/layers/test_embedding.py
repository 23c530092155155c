"""Tests that token embeddings accept all valid IDs, and that the error for an invalid ID names it."""

import pytest
import torch
from torch import nn

from transformer_lab.layers.embedding import look_up


@pytest.mark.parametrize(("tokens", "invalid_id"), [([0, 11], 11), ([0, -1], -1), ([99, -1], -1)])
def test_rejects_token_ids_outside_the_vocabulary(tokens, invalid_id):
    with pytest.raises(ValueError, match=f"^token ids must be from 0 to vocab_size − 1 = 10; got {invalid_id}$"):
        look_up(nn.Embedding(11, 8), torch.tensor([tokens]))


def test_accepts_every_token_in_the_vocabulary():
    embedding = nn.Embedding(11, 8)
    assert torch.equal(look_up(embedding, torch.tensor([[10, 0, 5]])), embedding.weight[[10, 0, 5]][None])

"""Diagrams of masks: their numbers are those of the attention that they show."""

import pytest
import torch

from transformer_course.diagrams.masks import ALLOWED, broadcast, masked_softmax
from transformer_lab.attention.dot_product import scaled_dot_product_attention
from transformer_lab.attention.masks import causal_mask, decoder_mask, padding_mask

WORDS = ["<bos>", "I", "like", "you"]


def test_the_tables_lead_from_scores_to_the_weights_of_attention():
    q, k = torch.randn(4, 8), torch.randn(4, 8)
    d = masked_softmax(q @ k.T / 8**0.5, causal_mask(4), WORDS, WORDS)
    assert [table.name for table in d.tables] == ["scores", "masked scores", "weights"]
    _, expected = scaled_dot_product_attention(q, k, k, causal_mask(4))
    shown = torch.tensor([[float(text) for text in row] for row in d.tables[2].texts])
    torch.testing.assert_close(shown, expected, atol=0.005001, rtol=0)
    hidden = [[text == "−∞" for text in row] for row in d.tables[1].texts]
    assert hidden == (~causal_mask(4)).tolist()
    assert d.links() == {("scores", "masked scores"), ("masked scores", "weights")}
    assert d.flaws() == []


def test_a_row_with_nothing_allowed_has_weights_of_0():
    d = masked_softmax(torch.zeros(2, 3), torch.tensor([[False] * 3, [True] * 3]), ["a", "b"], ["a", "b", "c"])
    assert d.tables[2].texts[0] == ("0.00", "0.00", "0.00")


@pytest.mark.parametrize("tokens", [[[1, 2, 3, 0], [0, 1, 2, 3]], [[1, 0, 0]], [[1, 2], [3, 0], [0, 0]]])
def test_both_masks_stretched_and_joined_are_the_mask_of_the_decoder(tokens):
    tokens = torch.tensor(tokens)
    batch, n = tokens.shape
    padding, causal, both = padding_mask(tokens, 0), causal_mask(n), decoder_mask(tokens, 0)
    d = broadcast(padding, causal, [["<pad>" if i == 0 else f"t{i}" for i in row] for row in tokens.tolist()])
    shown = torch.tensor([[[text == ALLOWED for text in row] for row in table.texts] for table in d.tables])
    shown = shown.unflatten(0, (batch, 3))
    for column, mask in enumerate((padding, causal, both)):
        assert torch.equal(shown[:, column], mask.expand(batch, 1, n, n)[:, 0])
    assert str(tuple(padding.shape)) in repr(d)
    assert str(tuple(both.shape)) in repr(d)
    assert d.flaws() == []


def test_what_is_stored_is_shaded_and_what_is_repeated_is_not():
    tokens = torch.tensor([[1, 2, 0], [1, 0, 0]])
    d = broadcast(padding_mask(tokens, 0), causal_mask(3), [["a", "b", "<pad>"], ["a", "<pad>", "<pad>"]])
    shaded = [[row[0] != "white" for row in table.colours] for table in d.tables]
    first, all_rows, none = [True, False, False], [True] * 3, [False] * 3
    assert shaded == [first, all_rows, all_rows, first, none, all_rows]

"""Tests for the entries of masks, and for the gradient flow from queries to keys that they allow."""

from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError
from torch import Tensor
from torch.autograd import grad

from tests.helpers.strategies import padded_tokens
from transformer_lab.attention.dot_product import scaled_dot_product_attention
from transformer_lab.attention.masks import causal_mask, decoder_mask, padding_mask, sliding_window_mask

PAD = 3
lengths = st.integers(1, 7)


def influence(mask: Tensor, n_query: int, n_key: int) -> list[list[bool]]:
    """Return whether gradient flows from each query's output to each key and value."""
    memory = torch.randn(n_key, 5, requires_grad=True)
    output, _ = scaled_dot_product_attention(torch.randn(n_query, 5), memory, memory, mask)
    return [(grad(row.sum(), memory, retain_graph=True)[0] != 0).any(dim=-1).tolist() for row in output]


@given(tokens=padded_tokens(PAD))
def test_padding_mask_is_false_at_padding(tokens):
    mask = padding_mask(tokens, PAD)
    assert (mask.shape, mask.dtype) == ((len(tokens), 1, 1, tokens.shape[1]), torch.bool)
    assert mask[:, 0, 0].tolist() == [[token != PAD for token in sentence] for sentence in tokens.tolist()]


def test_gradients_reach_tokens_but_not_padding():
    tokens = torch.tensor([[5, PAD, 0, 7, PAD]])
    assert influence(padding_mask(tokens, PAD)[0, 0], n_query=3, n_key=5) == [[True, False, True, True, False]] * 3


@given(n=lengths, n_past=lengths)
def test_causal_mask_allows_current_and_earlier_positions(n, n_past):
    for mask, past in ((causal_mask(n), 0), (causal_mask(n, n_past + n), n_past)):
        assert isinstance(mask, Tensor)
        assert mask.dtype == torch.bool
        assert mask.tolist() == [[s <= past + t for s in range(past + n)] for t in range(n)]


@given(n_query=lengths, n_past=lengths)
def test_last_query_is_aligned_with_the_last_key(n_query, n_past):
    whole = causal_mask(n_past + n_query)
    assert torch.equal(causal_mask(n_query, n_past + n_query), whole[n_past:])


@pytest.mark.parametrize("n_query", [7, 3, 1])
def test_gradients_reach_the_past_but_not_the_future(n_query):
    n_past = 7 - n_query
    reached = influence(causal_mask(n_query, 7), n_query, 7)
    assert reached == [[s <= n_past + t for s in range(7)] for t in range(n_query)]


@given(tokens=padded_tokens(PAD))
def test_decoder_mask_combines_causal_and_padding(tokens):
    n = tokens.shape[1]
    mask = decoder_mask(tokens, PAD)
    assert (mask.shape, mask.dtype) == ((len(tokens), 1, n, n), torch.bool)
    for sentence, observed in zip(tokens.tolist(), mask[:, 0].tolist(), strict=True):
        assert observed == [[s <= t and sentence[s] != PAD for s in range(n)] for t in range(n)]


def test_padding_and_future_tokens_receive_no_gradient():
    tokens = torch.tensor([[PAD, 5, PAD, 7]])
    assert influence(decoder_mask(tokens, PAD)[0, 0], n_query=4, n_key=4) == [
        [False, False, False, False],
        [False, True, False, False],
        [False, True, False, False],
        [False, True, False, True],
    ]


@given(batch=st.integers(1, 2), n=st.integers(1, 7), window=st.integers(1, 8), data=st.data())
def test_window_mask_allows_the_last_window_positions(batch, n, window, data):
    n_query = data.draw(st.integers(1, n))
    key_positions = torch.arange(n) + torch.arange(batch)[:, None] * 5
    query_positions = key_positions[:, n - n_query :]
    mask = sliding_window_mask(query_positions, key_positions, window)
    assert mask.shape == (batch, n_query, n)
    for b, i, j in product(range(batch), range(n_query), range(n)):
        assert mask[b, i, j] == (0 <= n - n_query + i - j < window)


def test_full_length_window_mask_is_causal():
    assert torch.equal(sliding_window_mask(torch.arange(5), torch.arange(5), window=5), causal_mask(5))


@pytest.mark.parametrize("window", [0, -1])
def test_rejects_window_that_allows_no_keys(window):
    with pytest.raises(ValueError, match=f"window must be positive; got window={window}"):
        sliding_window_mask(torch.arange(5), torch.arange(5), window)


def test_masks_combine_and_broadcast_over_heads():
    tokens = torch.tensor([[5, 7, PAD], [5, PAD, PAD]])
    q, k, v = torch.randn(3, 2, 11, 3, 5)
    _, weights = scaled_dot_product_attention(q, k, v, padding_mask(tokens, PAD) & causal_mask(3))
    assert torch.equal(weights != 0, decoder_mask(tokens, PAD).expand(2, 11, 3, 3))


def test_creates_causal_mask_on_the_device():
    assert causal_mask(3, device="meta").device.type == "meta"
    assert decoder_mask(torch.zeros(2, 3, dtype=torch.long, device="meta"), PAD).device.type == "meta"


@pytest.mark.parametrize("n_query, n_key", [(3, 2), (-1, 2)])
def test_rejects_lengths_that_leave_a_query_without_keys(n_query, n_key):
    with pytest.raises(ValueError, match=f"n_query={n_query}, n_key={n_key}"):
        causal_mask(n_query, n_key)


@pytest.mark.parametrize(
    "tokens", [torch.zeros(3, dtype=torch.long), torch.zeros(2, 3)], ids=["one dimension", "floats"]
)
@pytest.mark.parametrize("make", [padding_mask, decoder_mask])
def test_rejects_tokens_that_are_not_an_integer_batch(make, tokens):
    with pytest.raises(TypeCheckError, match="parameter 'tokens'"):
        make(tokens, PAD)

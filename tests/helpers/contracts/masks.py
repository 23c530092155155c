"""What masks must allow and hide: entry by entry, and by whose gradient arrives where."""

from collections.abc import Callable

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import grad

from tests.helpers.strategies import padded_tokens
from transformer_lab.attention.dot_product import scaled_dot_product_attention

PAD = 3
TokenMask = Callable[[Tensor, int], Tensor]
CausalMask = Callable[..., Tensor]
lengths = st.integers(1, 7)


def influence(mask: Tensor, n_query: int, n_key: int) -> list[list[bool]]:
    """Return whether any gradient flows from what each query gets to what each position holds."""
    memory = torch.randn(n_key, 5, requires_grad=True)
    output, _ = scaled_dot_product_attention(torch.randn(n_query, 5), memory, memory, mask)
    return [(grad(row.sum(), memory, retain_graph=True)[0] != 0).any(dim=-1).tolist() for row in output]


@given(tokens=padded_tokens(PAD))
def assert_padding_mask(padding: TokenMask, tokens):
    mask = padding(tokens, PAD)
    assert (mask.shape, mask.dtype) == ((len(tokens), 1, 1, tokens.shape[1]), torch.bool)
    assert mask[:, 0, 0].tolist() == [[token != PAD for token in sentence] for sentence in tokens.tolist()]


def assert_padding_mask_stops_gradients(padding: TokenMask):
    tokens = torch.tensor([[5, PAD, 0, 7, PAD]])
    assert influence(padding(tokens, PAD)[0, 0], n_query=3, n_key=5) == [[True, False, True, True, False]] * 3


@given(n=lengths, n_past=lengths)
def assert_causal_mask(causal: CausalMask, n, n_past):
    for mask, past in ((causal(n), 0), (causal(n, n_past + n), n_past)):
        assert isinstance(mask, Tensor)
        assert mask.dtype == torch.bool
        assert mask.tolist() == [[s <= past + t for s in range(past + n)] for t in range(n)]


@given(n_query=lengths, n_past=lengths)
def assert_causal_mask_aligns_the_last_query_with_the_last_key(causal: CausalMask, n_query, n_past):
    whole = causal(n_past + n_query)
    assert torch.equal(causal(n_query, n_past + n_query), whole[n_past:])


def assert_causal_mask_stops_gradients(causal: CausalMask, n_query: int):
    n_past = 7 - n_query
    reached = influence(causal(n_query, 7), n_query, 7)
    assert reached == [[s <= n_past + t for s in range(7)] for t in range(n_query)]


@given(tokens=padded_tokens(PAD))
def assert_decoder_mask(decoder: TokenMask, tokens):
    n = tokens.shape[1]
    mask = decoder(tokens, PAD)
    assert (mask.shape, mask.dtype) == ((len(tokens), 1, n, n), torch.bool)
    for sentence, seen in zip(tokens.tolist(), mask[:, 0].tolist(), strict=True):
        assert seen == [[s <= t and sentence[s] != PAD for s in range(n)] for t in range(n)]


def assert_decoder_mask_stops_gradients(decoder: TokenMask):
    tokens = torch.tensor([[PAD, 5, PAD, 7]])
    assert influence(decoder(tokens, PAD)[0, 0], n_query=4, n_key=4) == [
        [False, False, False, False],
        [False, True, False, False],
        [False, True, False, False],
        [False, True, False, True],
    ]

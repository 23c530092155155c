"""Hypothesis strategies for small float64 inputs. All dimensions differ in size, so tests detect swapped dimensions."""

from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor


class Inputs(NamedTuple):
    """The inputs of an attention function."""

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor


def sizes(n: int) -> st.SearchStrategy[list[int]]:
    """Draw n distinct sizes."""
    return st.lists(st.sampled_from([1, 2, 3, 5, 7, 11]), min_size=n, max_size=n, unique=True)


def generators() -> st.SearchStrategy[torch.Generator]:
    """Draw a seeded random number generator, whose numbers Hypothesis does not shrink."""
    return st.integers(0, 2**32 - 1).map(torch.Generator().manual_seed)


def normal(rng: torch.Generator, *shape: int) -> Tensor:
    """Return a float64 tensor of standard normal numbers."""
    return torch.randn(*shape, generator=rng, dtype=torch.float64)


@st.composite
def attention_inputs(draw: st.DrawFn) -> Inputs:
    """Draw queries, keys, values, and a mask that hides about 30 % of the keys, and all keys from one query.

    The tensors have zero, one or two leading dimensions. With two leading dimensions, d_v sometimes equals d_k, as
    torch's fused kernels require.
    """
    n_query, n_key, d_k, d_v, *leading = draw(st.integers(4, 6).flatmap(sizes))
    if len(leading) == 2 and draw(st.booleans()):
        d_v = d_k
    rng = draw(generators())
    mask = torch.rand(*leading, n_query, n_key, generator=rng) < 0.7
    if n_query > 1:
        mask[..., draw(st.integers(0, n_query - 1)), :] = False
    return Inputs(
        normal(rng, *leading, n_query, d_k), normal(rng, *leading, n_key, d_k), normal(rng, *leading, n_key, d_v), mask
    )


@st.composite
def padded_tokens(draw: st.DrawFn, pad_id: int) -> Tensor:
    """Draw a batch of tokens with padding at any position. Some sentences may consist entirely of padding."""
    batch, n = draw(sizes(2))
    token = st.integers(pad_id - 2, pad_id + 2)
    return torch.tensor(draw(st.lists(st.lists(token, min_size=n, max_size=n), min_size=batch, max_size=batch)))

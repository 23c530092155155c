"""What norms, feed-forward networks and layers must compute."""

from collections.abc import Callable
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import grad
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.strategies import generators, normal, sizes
from tests.helpers.torch_parity import drawn, drawn_network, vectors
from transformer_lab.attention.masks import decoder_mask, padding_mask

EPS = st.sampled_from([1e-5, 0.1, 3.0])
"""Also large ones, so that one sees where eps stands."""

D_MODEL, N_HEADS, D_FF, PAD, SOURCE_PAD = 12, 3, 17, 4, 9
TOKENS = torch.tensor([[1, 2, 3, 5, 12], [7, 0, 6, PAD, PAD]])
SOURCE = torch.tensor([[1, 2, SOURCE_PAD, 4, 5, 6, 7], [PAD, 8, 3, 2, SOURCE_PAD, SOURCE_PAD, SOURCE_PAD]])


shapes = st.integers(1, 4).flatmap(sizes)


@given(shape=shapes, rng=generators(), eps=EPS)
def assert_layer_norm(norm: Callable[..., Tensor], shape, rng, eps):
    x, weight, bias = (normal(rng, *size).requires_grad_() for size in (shape, shape[-1:], shape[-1:]))
    ours = norm(x, weight, bias, eps)
    theirs = F.layer_norm(x, shape[-1:], weight, bias, eps)
    assert_close(ours, theirs)
    leaves = [x, weight, bias]
    probe = normal(rng, *shape)
    assert_close(grad((ours * probe).sum(), leaves), grad((theirs * probe).sum(), leaves))


@given(sizes=st.integers(3, 5).flatmap(sizes), rng=generators())
def assert_feed_forward(kind: Callable[[int, int], Any], activation: nn.Module, sizes, rng):
    """Two linear layers with an activation between them."""
    d_model, d_ff, *leading = sizes
    ours = drawn_network(kind, rng, d_model, d_ff)
    theirs = nn.Sequential(nn.Linear(d_model, d_ff), activation, nn.Linear(d_ff, d_model)).double()
    theirs.load_state_dict(dict(zip(theirs.state_dict(), ours.state_dict().values(), strict=True)))
    x = normal(rng, *leading, d_model).requires_grad_()
    assert_close(ours(x), theirs(x))
    assert_close(*(grad(network(x).square().sum(), [x, *network.parameters()]) for network in (ours, theirs)))


def assert_encoder_layer(layer: Callable[[int, int, int], Any], by_loops: Callable[..., Tensor]):
    layer, mask = drawn(layer(D_MODEL, N_HEADS, D_FF)), padding_mask(TOKENS, PAD)
    x = vectors(*TOKENS.shape, D_MODEL)
    assert_close(layer(x, mask), by_loops(layer, x, mask))


def assert_decoder_layer(layer: Callable[[int, int, int], Any], by_loops: Callable[..., Tensor]):
    layer, masks = drawn(layer(D_MODEL, N_HEADS, D_FF)), (decoder_mask(TOKENS, PAD), padding_mask(SOURCE, SOURCE_PAD))
    x, memory = vectors(*TOKENS.shape, D_MODEL), vectors(*SOURCE.shape, D_MODEL)
    assert_close(layer(x, memory, *masks), by_loops(layer, x, memory, *masks))

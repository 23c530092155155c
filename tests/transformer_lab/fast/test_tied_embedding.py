"""Looking up tokens in a matrix that has another use: the gradients of both are added up, whoever comes first."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lab.fast.tied_embedding import look_up_tied

TOKENS = torch.tensor([4, 0, 4, 6]), torch.tensor([1, 4])


def draw() -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(5)
    weight, x = (torch.randn(n, 3, generator=rng, dtype=torch.float64) for n in (7, 2))
    return weight.requires_grad_(), x


def looked_up(weight: Tensor, tied: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return the rows of two look-ups, and the matrix."""
    if not tied:
        return *(F.embedding(tokens, weight) for tokens in TOKENS), weight
    first, matrix = look_up_tied(weight, TOKENS[0])
    second, matrix = look_up_tied(matrix, TOKENS[1])
    return first, second, matrix


@pytest.mark.parametrize("uses", ["all", "rows alone", "one look-up", "the matrix alone", "the weights elsewhere, too"])
def test_gradients_are_those_of_a_plain_embedding(uses):
    gradients = []
    for tied in (True, False):
        weight, x = draw()
        first, second, matrix = looked_up(weight, tied)
        loss = torch.zeros((), dtype=torch.float64)
        if uses != "the matrix alone":
            loss = loss + first.square().sum()
        if uses not in ("the matrix alone", "one look-up"):
            loss = loss + second.pow(3).sum()
        if uses != "rows alone":
            loss = loss + (x @ matrix.mT).square().sum()
        if uses == "the weights elsewhere, too":
            loss = loss + weight.pow(4).sum()
        loss.backward()
        gradients.append(weight.grad)
    assert_close(*gradients)
    assert gradients[0].layout == torch.strided


def test_neither_matrix_nor_gradient_is_copied():
    """Two look-ups add to the tensor that came back first: it is the gradient in the end."""
    weight, x = draw()
    seen = []

    class Last(torch.autograd.Function):
        @staticmethod
        def forward(ctx, matrix):
            ctx.matrix = matrix
            return x.sum()

        @staticmethod
        def backward(ctx, gradient):
            gradient = torch.ones_like(ctx.matrix)
            seen.append(gradient.data_ptr())
            return gradient

    first, second, matrix = looked_up(weight, tied=True)
    assert matrix.data_ptr() == weight.data_ptr()
    (first.sum() + second.sum() + Last.apply(matrix)).backward()
    assert weight.grad.data_ptr() == seen[0]
    assert weight.grad[:, 0].tolist() == [2, 2, 1, 1, 4, 1, 2]


def test_a_token_outside_the_vocabulary_is_an_error():
    with pytest.raises(IndexError, match="out of range"):
        look_up_tied(draw()[0], torch.tensor([7]))

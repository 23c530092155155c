"""Tests for measuring the largest tensor that is computed from an argument."""

import pytest
import torch
from torch.nn import functional as F

from transformer_course.running.case import Case
from transformer_course.running.observe import observe
from transformer_course.running.tensor_sizes import LargestTensor

queries, keys = torch.randn(2, 5), torch.randn(31, 5)


def largest(function):
    q, k = queries.clone(), keys.clone()
    with LargestTensor(q) as watched:
        function(q, k)
    return watched.largest


@pytest.mark.parametrize(
    ("size", "function"),
    [
        (62, lambda q, k: q @ k.T),
        (62, lambda q, k: torch.einsum("qd,kd->qk", q, k)),
        (310, lambda q, k: q[:, None] * k),
        (62, lambda q, k: torch.empty(2, 31).copy_(q @ k.T)),
        (62, lambda q, k: torch.cat([q @ k[:16].T, q @ k[16:].T], dim=1)),
        (62, lambda q, k: torch.empty(31, 2).T.addmm_(q, k.T, beta=0)),
        (31, lambda q, k: [row @ k.T for row in q]),
        (14, lambda q, k: sum((q @ block.T).sum() for block in k.split(7))),
    ],
)
def test_measures_direct_and_indirect_results(size, function):
    assert largest(function) == size


def test_ignores_views_and_unrelated_tensors():
    assert largest(lambda q, k: (q[:, None].expand(2, 31, 5), (3 * k).exp(), torch.empty(2, 0) + q[:, :0])) == 0


def test_ignores_unrelated_tensor_at_reused_address():
    def creates_and_frees(q, k):
        for _ in range(50):
            torch.zeros_like(q)
            torch.zeros(2, 5) + 1  # may reuse the address of a deleted tensor
            torch.zeros(1000)

    assert largest(creates_and_frees) == 10


def test_measures_inside_gradients_and_vmap():
    def attention(q, k):
        return F.softmax(q @ k.T, dim=-1) @ k

    assert largest(lambda q, k: attention(q.requires_grad_(), k)) == 62
    assert largest(lambda q, k: torch.func.vmap(attention, (0, None))(q, k)) == 62


@pytest.mark.parametrize(("limit", "expected"), [(61, ["queries"]), (62, None)])
def test_observation_lists_inputs_that_exceed_limit(limit, expected):
    case = Case({"queries": queries, "keys": keys}, "", max_numbers={"queries": limit})
    assert observe(lambda queries, keys: queries @ keys.T, case).get("too_large") == expected


def test_does_not_import_torch_compiler():
    """By default, torch wraps ``__torch_dispatch__`` in code that imports its compiler, which takes over a second."""
    assert not hasattr(LargestTensor.__torch_dispatch__, "__wrapped__")

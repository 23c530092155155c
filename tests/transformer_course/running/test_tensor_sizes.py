"""The size of the largest tensor that is made of an argument is what torch computes of it, views aside."""

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
def test_what_is_made_of_an_argument_counts_and_what_is_made_of_that(size, function):
    assert largest(function) == size


def test_views_and_what_is_made_of_something_else_do_not_count():
    assert largest(lambda q, k: (q[:, None].expand(2, 31, 5), (3 * k).exp(), torch.empty(2, 0) + q[:, :0])) == 0


def test_storage_that_is_freed_and_used_again_is_another_tensors():
    def makes_and_forgets(q, k):
        for _ in range(50):
            torch.zeros_like(q)
            torch.zeros(2, 5) + 1  # may lie where that was
            torch.zeros(1000)

    assert largest(makes_and_forgets) == 10


def test_gradients_and_vmap_do_not_hide_it():
    def attention(q, k):
        return F.softmax(q @ k.T, dim=-1) @ k

    assert largest(lambda q, k: attention(q.requires_grad_(), k)) == 62
    assert largest(lambda q, k: torch.func.vmap(attention, (0, None))(q, k)) == 62


@pytest.mark.parametrize(("most", "observed"), [(61, ["queries"]), (62, None)])
def test_an_observation_says_which_limit_was_broken(most, observed):
    case = Case({"queries": queries, "keys": keys}, "", max_numbers={"queries": most})
    assert observe(lambda queries, keys: queries @ keys.T, case).get("too_large") == observed


def test_watching_does_not_import_torchs_compiler():
    """That would take more than a second of the first check; torch wraps the method in what imports it."""
    assert not hasattr(LargestTensor.__torch_dispatch__, "__wrapped__")

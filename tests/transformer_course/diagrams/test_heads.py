"""The data flow of multi-head attention: the sizes are those of the module, and the wrong drawing is crossed out."""

import pytest
import torch
from torch import Tensor, nn

from transformer_course.diagrams.heads import multi_head
from transformer_lab.attention.multi_head import MultiHeadAttention


class OfALearner(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in "qkvo")

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (q, k, v))
        return self.w_o(nn.functional.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2))


@pytest.mark.parametrize("kind", [MultiHeadAttention, OfALearner])
def test_the_sizes_are_those_of_the_module(kind):
    d = multi_head(kind(128, 4))
    notes = {(" ".join(box.name.split()), box.note) for box in d.boxes}
    assert notes >= {
        *(("x", "(1, 11, 128)"), ("split_heads", "three times (1, 4, 11, 32)"), ("merge_heads", "(1, 11, 128)")),
        *((f"head {i} weights", "11 × 11") for i in range(4)),
        ("output", "(1, 11, 128)"),
    }
    assert {"q  (1, 11, 128)", "q, k, v\n(11, 32)", "(11, 32)"} <= {arrow.label for arrow in d.arrows}
    assert ("head 4", "11 × 11") not in notes


def test_all_of_x_is_projected_and_the_projections_are_cut():
    d = multi_head(MultiHeadAttention(128, 4))
    left = [arrow for arrow in d.arrows if arrow.points[0].x < d.boxes[0].x * 2 + 0.5 and arrow.points[0].of == "x"]
    assert {arrow.points[-1].of for arrow in left} == {"w_q", "w_k", "w_v"}
    assert {("q", "split_heads"), ("k", "split_heads"), ("v", "split_heads")} <= d.links()
    assert {(f"head {i}\nweights", "merge_heads") for i in range(4)} <= d.links()


def test_beside_it_x_itself_is_cut_and_crossed_out():
    d = multi_head(MultiHeadAttention(128, 4))
    (crossed,) = d.crossed_out
    inside = [box.name for box in d.boxes if crossed.x0 <= box.rect.x0 and box.rect.x1 <= crossed.x1 + 1e-9]
    assert "w_q" not in inside
    assert {"x", "merge_heads", "w_o"} <= set(inside)
    assert ("slices of x", "head 0\nweights") in d.links()
    assert "32 of 128\nfeatures" in {arrow.label for arrow in d.arrows}


@pytest.mark.parametrize("d_model, n_heads, n", [(128, 4, 11), (6, 1, 3), (64, 2, 11), (512, 8, 5)])
def test_it_can_be_read_whatever_the_sizes(d_model, n_heads, n):
    d = multi_head(MultiHeadAttention(d_model, n_heads), n)
    assert d.flaws() == []
    assert len([box for box in d.boxes if box.note == f"{n} × {n}"]) == 2 * n_heads


def test_the_random_numbers_of_torch_stay_as_they_are():
    module = MultiHeadAttention(8, 2)
    state = torch.get_rng_state()
    assert repr(multi_head(module)) == repr(multi_head(MultiHeadAttention(8, 2)))
    torch.set_rng_state(state)
    multi_head(module)
    assert torch.equal(torch.get_rng_state(), state)

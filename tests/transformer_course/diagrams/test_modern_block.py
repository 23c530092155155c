"""The block of today and what is in it: a gate, latent vectors, experts, pairs of rows, and what LoRA adds."""

import pytest
import torch

from transformer_course.diagrams.modern_block import blocks, experts, gated, latent, low_rank, rotary_pairs
from transformer_lab.pretrained.tensor_layout import InterleaveHalves


def test_queries_and_keys_are_rotated_and_values_are_not():
    d = blocks()
    links = d.links()
    assert {("w_q", "q_norm"), ("w_k", "k_norm"), ("q_norm", "RoPE"), ("k_norm", "RoPE")} <= links
    assert ("w_v", "softmax(q kᵀ / √d_k) v") in links
    assert not {head for tail, head in links if tail == "w_v"} & {"RoPE", "q_norm", "k_norm"}
    assert {("w_gate", "SiLU"), ("SiLU", "⊙"), ("w_up", "⊙"), ("⊙", "w_down")} <= links
    assert ("w_up", "SiLU") not in links
    assert d.flaws() == []


def test_norms_are_on_the_stream_of_2017_and_beside_that_of_today():
    d = blocks()
    today = next(frame for frame in d.frames if frame.name == "today")
    for name, on_stream in (("LayerNorm", True), ("RMSNorm", False)):
        norms = [box for box in d.boxes if box.name == name]
        assert len(norms) == 2
        thick = [arrow for arrow in d.arrows if arrow.thick]
        assert all(any(arrow.points[0].x == norm.x for arrow in thick) == on_stream for norm in norms)
        assert all((norm.x > today.left.x) != on_stream for norm in norms)


def test_silu_is_on_the_gate_alone():
    d = gated()
    assert d.links() == {
        ("x", "w_gate"), ("x", "w_up"), ("w_gate", "SiLU"), ("SiLU", "⊙"), ("w_up", "⊙"), ("⊙", "w_down"),
        ("w_down", "output"),
    }  # fmt: skip
    assert d.flaws() == []


def test_without_keys_only_the_query_and_the_average_are_projected():
    d = latent(n_past=2)
    made, none = "softmax(q kᵀ / √d) v", "softmax(q′ cᵀ / √d) c"
    assert {("q", made), ("q", "w_k[h]ᵀ"), ("w_k[h]ᵀ", none), (none, "w_v[h]")} <= d.links()
    assert ("q", none) not in d.links() and ("w_k[h]", none) not in d.links()
    assert [table.texts for table in d.tables] == [
        (("c0", "c1", "c2"),), (("k0", "k1", "k2"),), (("v0", "v1", "v2"),), (("c0", "c1", "c2"),),
    ]  # fmt: skip
    assert d.flaws() == []


@pytest.mark.parametrize("d_k", [2, 4, 6, 8])
def test_rows_are_sorted_as_the_loader_sorts_them(d_k):
    d = rotary_pairs(d_k)
    theirs, ours = d.tables
    [rows] = InterleaveHalves(axis=0).to_ours(torch.arange(d_k))
    assert ours.texts[0] == tuple(str(row) for row in rows.tolist())
    colour = dict(zip(theirs.texts[0], theirs.colours[0], strict=True))
    assert [colour[row] for row in ours.texts[0]] == list(ours.colours[0])
    assert d.flaws() == []


@pytest.mark.parametrize("d_k", [0, 7, 10])
def test_a_head_without_four_pairs_at_most_is_refused(d_k):
    with pytest.raises(ValueError, match=f"d_k must be 2, 4, 6 or 8; got {d_k}"):
        rotary_pairs(d_k)


def test_only_chosen_experts_are_reached():
    d = experts(5, (1, 4))
    assert {head for tail, head in d.links() if tail == "one token"} == {"router", "expert 1", "expert 4"}
    assert {box.name for box in d.boxes if box.look == "dimmed"} == {"expert 0", "expert 2", "expert 3"}
    assert d.flaws() == []


def test_an_expert_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"chosen experts must be from 0 to 3; got \[4\]"):
        experts(4, (4,))


def test_the_small_matrices_add_to_the_frozen_layer():
    d = low_rank(d_in=40, d_out=24, rank=3)
    assert {("linear (frozen)", "+"), ("a", "b"), ("b", "+"), ("+", "output")} <= d.links()
    assert {box.name: box.note for box in d.boxes}["a"] == "(3, 40)"
    assert "192 numbers instead of 960" in repr(d)
    assert d.flaws() == []

"""The block of today, the experts that a token meets, and what LoRA adds."""

import pytest

from transformer_course.diagrams.modern_block import blocks, experts, low_rank


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

"""Tests for the connections between states in the diagrams of recurrent translators."""

import pytest
import torch

from transformer_course.diagrams import recurrent


def test_only_the_last_state_reaches_the_decoder() -> None:
    d = recurrent.unrolled("3 mai", "05-03")
    assert {tail for tail, head in d.links() if head == "c"} == {"h₅"}
    assert {head for tail, head in d.links() if tail == "c"} == {f"s{i}" for i in "₁₂₃₄₅"}
    assert not any(tail[0] == "h" and head[0] == "s" for tail, head in d.links())
    assert "bottleneck" not in {label.words for label in d.labels}  # lesson 00 introduces it after the picture


def test_predicted_token_is_input_of_the_next_step() -> None:
    links = recurrent.unrolled("ab", "xyz").links()
    assert {("h₁", "h₂"), ("s₁", "s₂"), ("s₂", "s₃")} < links
    assert {("a", "h₁"), ("b", "h₂"), ("s₁", "x"), ("start\ntoken", "s₁"), ("x", "s₂"), ("y", "s₃")} < links
    assert ("z", "s₃") not in links


def test_attention_connects_previous_state_with_encoder_states() -> None:
    d = recurrent.with_attention("3 mai", "05-03", torch.tensor([0.1, 0.0, 0.2, 0.3, 0.4]), step=2)
    assert {tail for tail, head in d.links() if head == "weights"} == {"h₁", "h₂", "h₃", "h₄", "h₅", "s₁"}
    assert {("weights", "c₂"), ("c₂", "s₂")} < d.links()
    fan = [arrow.width for arrow in d.arrows if arrow.points[-1].of == "c₂"]
    # line widths are a linear function of the weights
    assert [round((width - fan[1]) / (fan[0] - fan[1]), 3) for width in fan] == [1, 0, 2, 3, 4]
    assert [table.texts for table in d.tables] == [(("0.10", "0", "0.20", "0.30", "0.40"),)]


def test_weight_is_drawn_above_its_state() -> None:
    d = recurrent.with_attention("abc", "xyz", torch.tensor([0.0, 0.0, 1.0]), step=3)
    [table] = d.tables
    states = [box for box in d.boxes if box.name[0] == "h"]
    assert [state.x for state in states] == pytest.approx([table.spot((i + 0.5) / 3, 0).x for i in range(3)])

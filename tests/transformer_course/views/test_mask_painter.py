"""Tests for the mask painter's mask, weights, reached outputs and errors."""

import pytest
import torch
from traitlets import TraitError

from transformer_course.views import MaskPainter
from transformer_lab.attention.masks import causal_mask

TOKENS = ["<pad>", "I", "like", "you"]


def test_weights_follow_mask_with_zeros_in_empty_rows():
    scores = torch.randn(4, 4)
    painter = MaskPainter(TOKENS, causal_mask(4), scores)
    expected = torch.softmax(scores.masked_fill(~causal_mask(4), -torch.inf), dim=-1)
    torch.testing.assert_close(painter.weights, expected)
    painter.mask = causal_mask(4) & torch.tensor([False, True, True, True])
    assert painter.allowed[3] == [False, True, True, True]
    assert painter.weights[0].tolist() == [0, 0, 0, 0]
    assert "Nothing is left for “<pad>”: the output is zeros." in painter.words()


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_reach_matches_gradients_through_layers(n_layers):
    mask = torch.rand(4, 4) < 0.4
    painter = MaskPainter(TOKENS, mask, source=2, layers=n_layers)
    x = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    z = x
    for _ in range(n_layers):
        z = z + MaskPainter(TOKENS, mask).weights.double() @ z
    depends = [torch.autograd.grad(row.sum(), x, retain_graph=True)[0][2].norm() > 0 for row in z]
    assert painter.reached.tolist() == [bool(each) for each in depends]


def test_output_before_the_input_is_a_leak():
    painter = MaskPainter(TOKENS, torch.ones(4, 4, dtype=torch.bool).tril(1), source=2)
    assert painter.words().endswith(
        "Input “like” reaches the outputs at “I”, “like” and “you” after 1 layer (leak: “I”)."
    )


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"tokens": []}, r"1 to 16 tokens; got 0"),
        ({"mask": torch.ones(3, 4, dtype=torch.bool)}, r"for 4 tokens, mask must have shape \(4, 4\); got \(3, 4\)"),
        ({"scores": torch.full((4, 4), -torch.inf)}, "scores must be finite"),
        ({"source": 4}, "source must be from 0 to 3; got 4"),
        ({"layers": 0}, "layers"),
    ],
)
def test_rejects_mismatched_tokens_masks_and_scores(arguments, error):
    with pytest.raises((ValueError, TraitError), match=error):
        MaskPainter(**{"tokens": TOKENS, **arguments})


def test_rejects_wrong_mask_size_and_keeps_old_mask():
    painter = MaskPainter(TOKENS)
    with pytest.raises(TraitError, match=r"shape \(4, 4\); got rows of lengths \[3, 3, 3\]"):
        painter.mask = causal_mask(3)
    assert painter.mask.all()


def test_picture_shows_mask_and_weights():
    left, right, *_ = MaskPainter(TOKENS, causal_mask(4), source=1).still().axes
    assert [left.get_title(), right.get_title()] == ["mask", "weights"]
    assert left.images[0].get_array().tolist() == causal_mask(4).float().tolist()

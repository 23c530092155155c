"""Tests that label smoothing matches its formula, and that the loss ignores padding."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from tests.transformer_lab.training.small_task import batches, model
from transformer_lab.training.loss import batch_loss, count_tokens, smoothed_cross_entropy

PAD, SMOOTHING = 2, 0.1


def draw_logits_and_targets() -> tuple[Tensor, Tensor]:
    """Draw logits and targets for three padded sentences with 13 real tokens in total."""
    rng = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(3, 7, 5, generator=rng)
    targets = torch.tensor([[0, 1, 3, 4, 0, PAD, PAD], [4, PAD, PAD, PAD, PAD, PAD, PAD], [1, 1, 3, 0, 4, 4, 3]])
    return logits, targets


def loss_by_loops(logits: Tensor, targets: Tensor, smoothing: float) -> float:
    """Compute the paper's loss one number at a time. Each of 5 tokens has weight ε / 5, plus 1 − ε for the target."""
    total = 0.0
    for row, line in zip(logits.double().tolist(), targets.tolist(), strict=True):
        for scores, target in zip(row, line, strict=True):
            if target != PAD:
                normalizer = math.log(sum(math.exp(score) for score in scores))
                for token, score in enumerate(scores):
                    weight = smoothing / len(scores) + (1 - smoothing) * (token == target)
                    total -= weight * (score - normalizer)
    return total


def mean_loss(logits, targets, pad_id, smoothing):
    return smoothed_cross_entropy(logits, targets, pad_id, smoothing) / count_tokens(targets, pad_id)


def test_label_smoothing_matches_formula_and_torch():
    logits, targets = draw_logits_and_targets()
    for smoothing in (0.0, SMOOTHING):
        ours = mean_loss(logits, targets, PAD, smoothing)
        theirs = F.cross_entropy(logits.mT, targets, ignore_index=PAD, label_smoothing=smoothing)
        assert_close(ours, theirs, rtol=1e-6, atol=0)
        assert_close(13 * ours.item(), loss_by_loops(logits, targets, smoothing), rtol=1e-6, atol=0)


def test_padding_does_not_change_the_loss():
    logits, targets = draw_logits_and_targets()
    longer = torch.cat([logits, torch.randn(3, 4, 5)], dim=1)
    padded = F.pad(targets, (0, 4), value=PAD)
    assert_close(
        smoothed_cross_entropy(longer, padded, PAD, SMOOTHING),
        smoothed_cross_entropy(*draw_logits_and_targets(), PAD, SMOOTHING),
    )
    assert count_tokens(padded, PAD) == count_tokens(targets, PAD) == 13


def test_confident_wrong_prediction_receives_full_loss():
    logits = 500 * F.one_hot(torch.tensor([[1, 3]]), 5).float()
    assert mean_loss(logits, torch.tensor([[0, 3]]), PAD, 0.0) == 250


def test_gradients_reach_only_real_tokens():
    logits, targets = draw_logits_and_targets()
    logits.requires_grad_()
    mean_loss(logits, targets, PAD, SMOOTHING).backward()
    assert torch.equal((logits.grad != 0).any(dim=-1), targets != PAD)


def test_sums_bfloat16_losses_in_float32():
    logits, targets = draw_logits_and_targets()
    ours = smoothed_cross_entropy(logits.bfloat16(), targets, PAD)
    assert ours.dtype == torch.float32
    assert_close(ours, smoothed_cross_entropy(logits.bfloat16().float(), targets, PAD))


def test_batch_loss_matches_loss_computed_from_logits():
    small, batch = model(dropout=0.0), next(iter(batches().from_step(0)))
    assert (batch.labels == 0).any()
    expected = smoothed_cross_entropy(small(*batch.inputs), batch.labels, 0, SMOOTHING)
    assert_close(batch_loss(small, batch.inputs, batch.labels, 0, SMOOTHING), expected)
    called = []
    small.register_forward_hook(lambda *_: called.append(True))  # a model with a hook must be called normally
    assert_close(batch_loss(small, batch.inputs, batch.labels, 0, SMOOTHING), expected)
    assert called

"""The loss: label smoothing by its formula, and padding that nothing is asked about."""

import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.contracts.training import (
    PAD,
    SMOOTHING,
    assert_charges_all_for_what_is_sure_and_wrong,
    assert_every_token_and_no_padding_gets_a_gradient,
    assert_smoothed_cross_entropy,
    draw_logits_and_targets,
)
from tests.transformer_lab.training.small_task import batches, model
from transformer_lab.training.loss import batch_loss, count_tokens, smoothed_cross_entropy


def mean_loss(logits, targets, pad_id, smoothing):
    return smoothed_cross_entropy(logits, targets, pad_id, smoothing) / count_tokens(targets, pad_id)


def test_label_smoothing_is_the_formula_and_torchs():
    assert_smoothed_cross_entropy(mean_loss)


def test_appending_padding_changes_nothing():
    logits, targets = draw_logits_and_targets()
    longer = torch.cat([logits, torch.randn(3, 4, 5)], dim=1)
    padded = F.pad(targets, (0, 4), value=PAD)
    assert_close(
        smoothed_cross_entropy(longer, padded, PAD, SMOOTHING),
        smoothed_cross_entropy(*draw_logits_and_targets(), PAD, SMOOTHING),
    )
    assert count_tokens(padded, PAD) == count_tokens(targets, PAD) == 13


def test_a_model_that_is_sure_and_right_has_no_loss_left_without_smoothing():
    """A softmax before the softmax leaves log(e + V − 1) − 1 however sure the model is."""
    targets = torch.tensor([[0, 3]])
    assert smoothed_cross_entropy(50 * F.one_hot(targets, 5).float(), targets, PAD) < 1e-6


def test_a_model_that_is_sure_and_wrong_is_charged_for_all_of_it():
    assert_charges_all_for_what_is_sure_and_wrong(mean_loss)


def test_no_gradient_comes_from_padding_and_some_from_every_token():
    assert_every_token_and_no_padding_gets_a_gradient(mean_loss)


def test_in_bfloat16_it_is_added_up_in_float32():
    logits, targets = draw_logits_and_targets()
    ours = smoothed_cross_entropy(logits.bfloat16(), targets, PAD)
    assert ours.dtype == torch.float32
    assert_close(ours, smoothed_cross_entropy(logits.bfloat16().float(), targets, PAD))


def test_the_loss_of_a_batch_is_that_of_the_logits_whether_padding_is_left_out_or_not():
    small, batch = model(dropout=0.0), next(iter(batches().from_step(0)))
    assert (batch.labels == 0).any()
    expected = smoothed_cross_entropy(small(*batch.inputs), batch.labels, 0, SMOOTHING)
    assert_close(batch_loss(small, batch.inputs, batch.labels, 0, SMOOTHING), expected)
    called = []
    small.register_forward_hook(lambda *_: called.append(True))  # which must be called
    assert_close(batch_loss(small, batch.inputs, batch.labels, 0, SMOOTHING), expected)
    assert called

"""Tests that the instruments agree with simpler measurements on healthy models and on models with known bugs."""

import copy
import math

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_course.clinic import instruments
from transformer_course.clinic.patient import (
    WEIGHT_DECAY,
    DecoderOnly,
    DropoutDecoderOnly,
    EncoderDecoder,
    RotaryDecoderOnly,
)  # fmt: skip
from transformer_course.clinic.patients import patient_class
from transformer_course.clinic.task import BOS_ID, EOS_ID, MAX_LETTERS, PAD_ID, draw_pairs, encode

KINDS = [RotaryDecoderOnly, EncoderDecoder]


def short(kind, n_steps=30):
    """Train patients briefly, but long enough for every parameter to change."""
    return type("Short", (kind,), {"n_steps": n_steps, "trains_as_twin": False})(seed=3)


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def healthy(request):
    return short(request.param)


def flat(table: pd.DataFrame) -> np.ndarray:
    return table.to_numpy().ravel()


@pytest.mark.parametrize("instrument", instruments.ALL_INSTRUMENTS, ids=lambda instrument: instrument.__name__)
def test_instrument_returns_finite_numbers_and_preserves_patient(instrument, healthy):
    healthy.model.train()
    before = copy.deepcopy(healthy.model.state_dict())
    seed = torch.random.get_rng_state()
    table = instrument(healthy)
    assert np.isfinite(flat(table).astype(float)).all()
    assert table.equals(instrument(healthy))
    assert torch.random.get_rng_state().equal(seed)
    for name, tensor in healthy.model.state_dict().items():
        assert tensor.equal(before[name]), name
        assert tensor.dtype == before[name].dtype
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in healthy.model.modules())


def test_token_affects_only_later_predictions(healthy):
    expected = np.vstack([np.ones((5, 6)), np.triu(np.ones((5, 6)), k=1)]).astype(bool)
    for instrument in (instruments.leak_test, instruments.leak_test_with_cache):
        assert ((instrument(healthy) != 0).to_numpy() == expected).all()


def test_leak_test_matches_nonzero_gradients():
    patient = short(patient_class(1))
    batch = patient.batch(draw_pairs(8, "reach", MAX_LETTERS))
    with torch.enable_grad():
        rows = patient.model.decoder.embedding(batch.targets).detach().requires_grad_()
        memory = patient.model.encoder.embed  # this patient's encoder reads the answer instead of the question
        patient.model.encoder.embed = lambda tokens: rows * math.sqrt(32) + patient.model.encoder.positions[:6]
        logits = patient.logits(batch)
        patient.model.encoder.embed = memory
        [gradient] = torch.autograd.grad(logits[:, 0].sum(), rows)
    assert (gradient.abs().amax(dim=(0, 2)) > 0).all()
    table = instruments.leak_test(patient)
    assert (table.loc["answer 1":, "answer 1"] > 0).all()
    assert (table.loc[:"question 5"] == 0).all(axis=None)


def test_gradient_norms_match_mean_cross_entropy(healthy):
    batch = healthy.batch(draw_pairs(32, "gradient"))
    healthy.model.eval()
    loss = F.cross_entropy(healthy.logits(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=PAD_ID)
    names, parameters = zip(*healthy.model.named_parameters(), strict=True)
    expected = {n: g.norm().item() for n, g in zip(names, torch.autograd.grad(loss, parameters), strict=True)}
    assert instruments.gradient_norms(healthy)["norm"].to_dict() == pytest.approx(expected, rel=1e-3, abs=1e-7)


def test_irrelevant_changes_do_not_affect_healthy_model(healthy):
    assert flat(instruments.cached_against_uncached(healthy)).max() < 1e-4
    assert flat(instruments.compare_company(healthy)).max() < 1e-4
    assert flat(instruments.repeat_question(healthy)).max() == 0
    assert flat(instruments.split_the_batch(healthy)).max() < 1e-5
    padded = instruments.pad_and_compare(healthy)
    assert padded["right"].max() < 1e-4
    # Padding on the left shifts positions in the original Transformer but not in the language model.
    assert (padded["left"].max() < 1e-4) == (not isinstance(healthy, EncoderDecoder))
    assert flat(instruments.shuffle_question(healthy)).min() > 1e-3


def test_splitting_batch_reveals_mean_of_means():
    patient = short(patient_class(13))
    pairs = sorted(draw_pairs(16, "split"), key=lambda pair: len(pair[0]))

    def gradient(pairs):
        batch = patient.batch(pairs)
        loss = F.cross_entropy(patient.logits(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=PAD_ID)
        return torch.cat([g.flatten() for g in torch.autograd.grad(loss, [*patient.model.parameters()])])

    whole, halves = gradient(pairs), (gradient(pairs[:8]) + gradient(pairs[8:])) / 2
    expected = float((halves - whole).norm() / whole.norm())
    assert instruments.split_the_batch(patient).loc[2].item() == pytest.approx(expected, rel=1e-3)
    assert expected > 0.01


def test_drift_equals_weight_decay_on_matrices_only(healthy):
    changes = instruments.drift_without_gradient(healthy)["relative change"]
    for name, parameter in healthy.model.named_parameters():
        assert changes[name] == pytest.approx(healthy.lr * WEIGHT_DECAY if parameter.dim() > 1 else 0.0, rel=1e-2)


def test_initial_loss_is_mean_over_answers(healthy):
    fresh = type(healthy)(healthy.seed, trained=False)
    losses = []
    for question, answer in draw_pairs(64, "initial"):
        target = torch.tensor([*encode(answer), EOS_ID])
        logits = instruments.forced_logits(fresh, [(question, answer)])[0]
        losses.append(F.cross_entropy(logits, target, reduction="none"))
    table = instruments.initial_loss(healthy)
    assert table["loss"].item() == pytest.approx(torch.cat(losses).mean().item(), rel=1e-4)
    assert table["ln(vocab_size)"].item() == pytest.approx(math.log(11))


def test_forced_logits_match_single_forward_pass():
    patient = short(DecoderOnly, n_steps=1)
    text = torch.tensor([[*encode("abcd"), BOS_ID, *encode("dcba")]])
    expected = patient.model.eval()(text)[:, 4:]
    assert_close(instruments.forced_logits(patient, [("abcd", "dcba")]), expected)


def test_measures_residual_stream_after_every_block():
    patient = short(DecoderOnly)
    batch, model = patient.batch(draw_pairs(32, "stream", MAX_LETTERS)), patient.model.eval()
    x = model.embed(batch.inputs, torch.arange(batch.inputs.shape[1])[None])
    sizes = [x.square().mean().sqrt().item()]
    for block in model.blocks:
        x = block(x, is_causal=True)
        sizes.append(x.square().mean().sqrt().item())
    assert flat(instruments.residual_stream(patient)) == pytest.approx(sizes, rel=1e-4)


def test_scale_stream_distinguishes_three_layer_variants():
    healthy, normalized, query_only = (instruments.scale_stream(short(patient_class(n))) for n in (4, 7, 12))
    assert healthy["what it adds grows by"].max() < 2
    assert normalized["its output grows by"].to_numpy() == pytest.approx(1.0, abs=0.05)
    assert query_only["what it adds grows by"].min() > 3


def test_repeated_question_reveals_active_dropout():
    torch.manual_seed(0)
    assert flat(instruments.repeat_question(short(DropoutDecoderOnly))).max() == 0
    assert flat(instruments.repeat_question(short(patient_class(8)))).min() > 0.01


def test_healthy_model_overfits_to_nearly_zero_loss(healthy):
    curve = instruments.overfit_one_batch(healthy)["loss"]
    assert curve.iloc[0] > 2 and curve.iloc[-1] < 0.5

"""Tests that the references match independent implementations."""

import math

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.transformer_course.exercises import (
    bank_references,
    language_model_references,
    recent_references,
    translation_references,
)
from transformer_course.checking.tolerance import observation_distance
from transformer_course.exercises import every_exercise
from transformer_course.running.observe import observe
from transformer_lab.models.recurrent import AttentiveRecurrentTranslator

INDEPENDENT = {
    **translation_references.INDEPENDENT,
    **language_model_references.INDEPENDENT,
    **recent_references.INDEPENDENT,
    **bank_references.INDEPENDENT,
}
TOLERANCES = {"train_epoch": {"rtol": 1e-4, "atol": 1e-5}}
"""Tolerances for outputs that are plain numbers but were computed in float32."""


def test_pass_at_k_is_unbiased():
    """Compare the expected estimate with the true value 1 − (1 − p)^k, where p is the probability of a right sample."""
    n, k, p = 6, 3, 0.3
    odds = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    estimate = every_exercise()["pass_at_k"].reference
    expected = 1 - (1 - p) ** k
    assert sum(weight * estimate(n, c, k) for c, weight in enumerate(odds)) == pytest.approx(expected)
    assert sum(weight * (1 - (1 - c / n) ** k) for c, weight in enumerate(odds)) < expected - 0.01


def test_grpo_drift_is_kl_divergence_on_average():
    log_p, reference = (torch.randn(2, 7, dtype=torch.float64).log_softmax(dim=-1)).unbind()
    loss = every_exercise()["grpo_loss"].reference
    real, advantages = torch.ones(1, 1, dtype=torch.bool), torch.zeros(1)
    drifts = []
    for p, q in zip(log_p.float(), reference.float(), strict=True):
        now, then = p.view(1, 1), q.view(1, 1)
        drifts.append(loss(now, now, then, advantages, real, 0.2, 1.0))
    kl = F.kl_div(reference, log_p, log_target=True, reduction="sum")
    assert_close((log_p.exp() * torch.stack(drifts).double()).sum(), kl, rtol=1e-4, atol=1e-6)


def test_independent_implementations_belong_to_exercises():
    assert INDEPENDENT.keys() - every_exercise().keys() == set()


@pytest.mark.parametrize("name", every_exercise())
def test_reference_matches_independent_implementation(name, thoroughness):
    assert name in INDEPENDENT, "add an independent implementation to INDEPENDENT"
    exercise = every_exercise()[name]
    for seed in thoroughness.seeds(10):
        for case in exercise.cases(seed):
            observation, right = observe(exercise.reference, case), observe(INDEPENDENT[name], case)
            if case.kind == "sampler":
                assert observation_distance(observation, right) <= 1
                continue
            output, expected = (exercise.normalize(observed["output"], case) for observed in (observation, right))
            texts = expected if isinstance(expected, list) else [expected]
            if all(isinstance(text, str) for text in texts):
                assert output == expected
            else:
                assert_close(output, expected, **TOLERANCES.get(name, {}))


def test_context_vector_matches_library():
    model = AttentiveRecurrentTranslator(source_vocab_size=11, target_vocab_size=11, d_model=5)
    state, states, mask = torch.randn(3, 5), torch.randn(3, 7, 5), torch.arange(7) < torch.tensor([[7], [2], [5]])
    _, weights = model.attention(state[:, None], states, states, mask[:, None])
    mixed = every_exercise()["context_vector"].reference(weights[:, 0], states)
    assert_close(mixed, model.context(state, states, mask))


def test_score_variance_matches_samples():
    rng = torch.Generator().manual_seed(0)
    q, k = 1.7**0.5 * torch.randn(2, 100_000, 5, generator=rng, dtype=torch.float64)
    measured = (q * k).sum(dim=-1).var()
    assert_close(every_exercise()["score_variance"].reference(5, 1.7), float(measured), rtol=0.02, atol=0.0)

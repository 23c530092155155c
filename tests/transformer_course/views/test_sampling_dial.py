"""Tests that the sampling dial shows and samples from the same distribution as the library."""

import pytest
import torch
from traitlets import TraitError

from tests.transformer_course.views.javascript import call_each, needs_node
from transformer_course.views.sampling_dial import N_DRAWN, SamplingDial
from transformer_lab.generation.sampling import filter_logits

LOGITS = torch.tensor([0.1, 0.5, 0.15, 0.25]).log()


def test_tokens_are_sorted_by_probability():
    dial = SamplingDial(LOGITS, list("dacb"), n_shown=2)
    assert dial.tokens == list("abcd")
    assert dial.probabilities.tolist() == pytest.approx([0.5, 0.25, 0.15, 0.1], abs=1e-4)
    assert len(dial.drawn) == N_DRAWN


@pytest.mark.parametrize("state", [{"temperature": 0.5}, {"temperature": 5.0}, {"top_k": 3}, {"top_p": 0.7}])
def test_settings_change_distribution_as_in_the_library(state):
    dial = SamplingDial(LOGITS)
    for name, value in state.items():
        setattr(dial, name, value)
    expected = filter_logits(LOGITS[None], **state).softmax(dim=-1)[0]
    assert dial.probabilities.tolist() == pytest.approx(expected.sort(descending=True).values.tolist(), abs=1e-4)
    assert dial.n_kept == int((expected > 0).sum())
    assert {dial.tokens.index(token) for token in dial.drawn} <= set(range(dial.n_kept))


def test_samples_depend_only_on_the_seed():
    dial = SamplingDial(LOGITS)
    first = dial.drawn
    dial.seed = 1
    assert dial.drawn != first
    dial.seed = 0
    assert dial.drawn == first


def test_frequencies_approach_probabilities():
    dial = SamplingDial(LOGITS)
    drawn = []
    for seed in range(50):
        dial.seed = seed
        drawn += dial.drawn
    frequencies = [drawn.count(token) / len(drawn) for token in dial.tokens]
    assert frequencies == pytest.approx(dial.probabilities.tolist(), abs=0.03)


@needs_node
def test_front_end_matches_python():
    settings = [(1.0, 50, 1.0), (0.3, 50, 0.9), (2.5, 7, 1.0), (1.3, 20, 0.55), (5.0, 1, 0.01)]
    dial = SamplingDial(torch.randn(50, generator=torch.Generator().manual_seed(0)) * 3)
    arguments = [[dial.logits, {"temperature": t, "topK": k, "topP": p}] for t, k, p in settings]
    found = call_each("sampling_math", "probabilities", arguments)
    drawn = call_each("sampling_math", "drawn", [[p, seed, N_DRAWN] for seed, p in enumerate(found)])
    for seed, (t, k, p) in enumerate(settings):
        dial.temperature, dial.top_k, dial.top_p, dial.seed = t, k, p, seed
        assert found[seed] == pytest.approx(dial.probabilities.tolist(), abs=1e-9)
        assert [dial.tokens[i] for i in drawn[seed]] == dial.drawn


def test_picture_shows_bars_before_and_after_filtering():
    dial = SamplingDial(LOGITS, n_shown=2, top_k=1)
    [ax] = dial.still().axes
    before, now = ax.containers
    assert [bar.get_width() for bar in before] == pytest.approx([0.5, 0.25, 0.25], abs=1e-4)
    assert [bar.get_width() for bar in now] == pytest.approx([1.0, 0.0, 0.0])
    assert dial.words() == "Sampling with temperature 1.00, top-k 1, top-p 1.00: 1 of 4 tokens can be drawn."


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        (torch.zeros(1, 4), r"\(vocab_size,\), for a single position; got \(1, 4\)$"),
        (torch.zeros(0), r"got \(0,\)$"),
        (torch.tensor([0.0, torch.nan]), r"got \(2,\), not all finite$"),
    ],
)
def test_rejects_logits_with_wrong_shape(logits, message):
    with pytest.raises(ValueError, match=message):
        SamplingDial(logits)


def test_rejects_wrong_number_of_tokens():
    with pytest.raises(ValueError, match="got 4 logits and 3 tokens"):
        SamplingDial(LOGITS, list("abc"))


@pytest.mark.parametrize("state", [{"temperature": 0.0}, {"top_k": 0}, {"top_p": 1.5}])
def test_rejects_invalid_settings(state):
    with pytest.raises(TraitError):
        SamplingDial(LOGITS, **state)

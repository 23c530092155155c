"""The sampling dial: what it shows is the library's distribution, and samples of it."""

import pytest
import torch
from traitlets import TraitError

from transformer_course.views.sampling_dial import N_DRAWN, SamplingDial
from transformer_lab.generation.sampling import filter_logits

LOGITS = torch.tensor([0.1, 0.5, 0.15, 0.25]).log()


def test_tokens_stand_in_the_order_of_their_probability_and_the_others_are_added_up():
    dial = SamplingDial(LOGITS, list("dacb"), n_shown=2)
    assert dial.shown == ["a", "b"]
    assert dial.probabilities == dial.before == pytest.approx([0.5, 0.25, 0.25])
    assert dial.can_draw_others
    assert sum(dial.counts) == len(dial.drawn) == N_DRAWN


@pytest.mark.parametrize("state", [{"temperature": 0.5}, {"temperature": 5.0}, {"top_k": 3}, {"top_p": 0.7}])
def test_a_trait_changes_the_distribution_as_the_library_does(state):
    dial = SamplingDial(LOGITS)
    for name, value in state.items():
        setattr(dial, name, value)
    wanted = filter_logits(LOGITS[None], **state).softmax(dim=-1)[0]
    assert dial.probabilities == pytest.approx([*wanted.sort(descending=True).values.tolist(), 0.0])
    assert dial.n_kept == int((wanted > 0).sum())
    assert {dial.shown.index(token) for token in dial.drawn} <= {i for i, p in enumerate(dial.probabilities) if p > 0}
    assert SamplingDial(LOGITS, **state).probabilities == dial.probabilities


def test_samples_follow_the_seed_and_are_the_same_for_the_same():
    dial = SamplingDial(LOGITS)
    first = dial.drawn
    dial.seed = 1
    assert dial.drawn != first
    dial.seed = 0
    assert dial.drawn == first


def test_frequencies_come_near_the_probabilities():
    dial = SamplingDial(LOGITS)
    totals = torch.zeros(5)
    for seed in range(50):
        dial.seed = seed
        totals += torch.tensor(dial.counts)
    assert (totals / totals.sum()).tolist() == pytest.approx(dial.probabilities, abs=0.03)


def test_what_is_cut_beyond_the_shown_tokens_is_known():
    dial = SamplingDial(torch.linspace(1.0, 0.9, 50), n_shown=5, top_k=5)
    assert (dial.n_kept, dial.can_draw_others) == (5, False)
    dial.top_k = 6
    assert (dial.n_kept, dial.can_draw_others, dial.probabilities[-1]) == (6, True, pytest.approx(1 / 6, abs=0.01))


def test_the_picture_has_a_bar_for_each_token_before_and_now():
    dial = SamplingDial(LOGITS, top_k=1)
    [ax] = dial.still().axes
    before, now = ax.containers
    assert [bar.get_width() for bar in before] == pytest.approx([0.5, 0.25, 0.15, 0.1, 0.0], abs=1e-6)
    assert [bar.get_width() for bar in now] == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0])
    assert dial.words() == "Sampling with temperature 1.00, top-k 1, top-p 1.00: 1 of 4 tokens can be drawn."


@pytest.mark.parametrize(
    ("logits", "said"),
    [
        (torch.zeros(1, 4), r"\(vocab_size,\), and finite; got \(1, 4\)$"),
        (torch.zeros(0), r"got \(0,\)$"),
        (torch.tensor([0.0, torch.nan]), r"got \(2,\), not all finite$"),
    ],
)
def test_logits_of_another_shape_are_refused(logits, said):
    with pytest.raises(ValueError, match=said):
        SamplingDial(logits)


def test_texts_of_another_number_are_refused():
    with pytest.raises(ValueError, match="got 4 logits, 3 texts"):
        SamplingDial(LOGITS, list("abc"))


@pytest.mark.parametrize("state", [{"temperature": 0.0}, {"top_k": 0}, {"top_p": 1.5}])
def test_settings_that_define_no_distribution_are_refused(state):
    with pytest.raises(TraitError):
        SamplingDial(LOGITS, **state)

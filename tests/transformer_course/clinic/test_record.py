"""Tests for the scores, diagnoses, contradictions and reports in the clinic's record."""

import pandas as pd
import pytest

from transformer_course.clinic import instruments
from transformer_course.clinic.patients import report
from transformer_course.clinic.record import Clinic, score_at_random


@pytest.fixture
def clinic(train_for):
    train_for(2)
    return Clinic()


def test_each_instrument_counts_once_but_curves_never_count(clinic):
    case = clinic.admit(9)
    case.losses(), case.answers(), case.normal(instruments.initial_loss)
    assert case.score == 0
    first = case.measure(instruments.initial_loss)
    assert case.measure(instruments.initial_loss) is first
    case.measure(instruments.initial_logits)
    assert case.score == 2
    assert clinic.admit(9) is case


def test_custom_instrument_counts_as_measurement(clinic):
    def n_parameters(patient):
        return pd.DataFrame({"n": [sum(p.numel() for p in patient.model.parameters())]})

    assert clinic.admit(9).measure(n_parameters)["n"][0] > 0
    assert clinic.admit(9).score == 1


def test_wrong_diagnosis_counts_twice_and_lists_contradictions(clinic):
    case = clinic.admit(2)
    case.measure(instruments.drift_without_gradient)
    case.measure(instruments.split_the_batch)
    message = case.diagnose("I")
    assert case.score == 4
    assert "drift_without_gradient differs from the healthy twin's. With this bug, it would match." in message
    assert "split_the_batch matches the healthy twin's. With this bug, it would differ." in message
    case.diagnose("I")
    assert case.score == 4
    assert "drift_without_gradient" in case.diagnose("A")
    assert "rules it out" in case.diagnose("R")


def test_report_is_hidden_until_correct_diagnosis(clinic):
    case = clinic.admit(2)
    for method in (case.report, case.source):
        with pytest.raises(ValueError, match="patient 2 is still open"):
            method()
    assert case.diagnose("N").startswith("Right: weight decay")
    assert case.report() == report(2)
    assert "torch.optim.AdamW(self.model.parameters()" in case.source()
    clinic.admit(4).diagnose("A")
    columns = ["patient", "measurements", "wrong diagnoses", "score", "score of the bot", "closed"]
    assert clinic.summary()[columns].to_numpy().tolist() == [
        [2, 0, 0, 0, 8.8, True],
        [4, 0, 1, 2, 8.6, False],
        ["all closed", 0, 0, 0, 8.8, True],
    ]


def test_random_bot_has_expected_score():
    # No instrument distinguishes patients 7 and 12, so the bot uses all sixteen instruments. Half of its guesses are
    # wrong, and a wrong guess costs 2.
    assert score_at_random(7) == pytest.approx(16 + 1, abs=0.3)
    # Each of four instruments is the only one that detects some bug. The bot can conclude that patient 9 is healthy
    # when it has used all four, or a little later. In a random order of sixteen instruments, the last of the four is at
    # position 4 · 17 / 5 on average.
    assert 4 * 17 / 5 - 0.4 < score_at_random(9) < 15
    # For patient 6, a single measurement can be enough, such as the initial loss.
    assert 1 <= score_at_random(6) < 4 < score_at_random(2)


def test_rejects_unknown_diagnosis(clinic):
    with pytest.raises(ValueError, match="choose one of A, B"):
        clinic.admit(1).diagnose("healthy")

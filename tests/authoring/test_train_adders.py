"""Tests for the adders of the lesson on tokenizers."""

import json
import random

import pytest
import torch
from torch import nn

from authoring.stored_runs import defined
from authoring.train_adders import (
    COMMAND,
    FILE,
    GROUPINGS,
    LESSON,
    NEEDED,
    SETTINGS,
    VOCAB_SIZE,
    batch,
    draw_sum,
    encoded,
    grouped,
    is_aligned,
    is_right,
    trained_adder,
)  # fmt: skip

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_has_three_seeds_for_every_setting_and_grouping():
    assert CARD["command"] == COMMAND
    for setting in SETTINGS:
        for grouping in GROUPINGS:
            rows = [row for row in CARD["runs"] if row["n_digits"] == [*setting["n_digits"]]]
            assert len({row["seed"] for row in rows if row["grouping"] == grouping}) == 3


@pytest.mark.parametrize(
    ("grouping", "groups"),
    [
        ("from the left", ["12", "34", "5"]),
        ("from the right", ["1", "23", "45"]),
        ("single digits", ["1", "2", "3", "4", "5"]),
    ],
)
def test_grouped_cuts_digits(grouping, groups):
    assert grouped("12345", grouping) == groups


def test_sums_have_number_of_digits_and_are_right():
    rng = random.Random(0)
    for a, b, total in (draw_sum(rng, (2, 4)) for _ in range(100)):
        assert 2 <= min(len(a), len(b)) <= max(len(a), len(b)) <= 4
        assert int(a) + int(b) == int(total)


def test_aligned_means_same_remainder_of_lengths():
    assert is_aligned(("12", "34", "46"))
    assert not is_aligned(("12", "345", "357"))
    assert not is_aligned(("60", "60", "120"))


def test_labels_leave_questions_out():
    question, answer = encoded(("12", "30", "42"), "from the left")
    tokens, labels = batch([(question, answer)])
    assert tokens[0].tolist() == question + answer
    assert labels[0].tolist() == [0] * len(question) + answer


def test_is_right_requires_every_token():
    class Copier(nn.Module):
        """Predict the next token of a known text, except where the text has been changed."""

        def forward(self, tokens):
            ahead = tokens.roll(-1, dims=1)
            return nn.functional.one_hot(ahead, VOCAB_SIZE).float()

    sums = [("12", "30", "42"), ("99", "99", "198")]
    assert is_right(Copier(), sums, "single digits").tolist() == [1.0, 1.0]

    class Wrong(Copier):
        def forward(self, tokens):
            logits = super().forward(tokens)
            logits[0, -2] = 0
            return logits

    assert is_right(Wrong(), sums[1:], "single digits").tolist() == [0.0]


def test_short_run_trains_a_model():
    torch.manual_seed(0)
    lesson = defined(NEEDED, LESSON)
    model = trained_adder(lesson, "from the right", set(), n_digits=(2, 3), n_steps=2, rate=0.03, seed=0)
    assert is_right(model, [("12", "30", "42")], "from the right").shape == (1,)

"""Tests for judging rough guesses, counts, words and choices as right, close or wrong."""

import numpy as np
import pytest
import torch

from transformer_course.lesson.prediction import judge_choice, judge_prediction, nearest_choice, split_confidence


@pytest.mark.parametrize(
    ("prediction", "measured"),
    [
        (8, 8),
        (8, 8.0),
        (8.0, 8),
        (22, 22.5),
        (38, 37.9),
        (60, 59),  # a lesson offers the choices 6, 20 and 60
        (50_000, 49_984),
        (0.04, 0.0442),
        (0.3, 0.32),
        (0.33, 0.32),
        (0.9, 0.88),
        (0.1, 0.08),  # a lesson offers the choices 0.1, 0.5 and 0.9
        (1, 0.99),
        (0, -0.0),
        (0.00001, 6e-9),
        (2.5, 2.4849),
        (90, 0.9),
        (100, 1.0),
        (float("nan"), float("nan")),
        (np.float32(0.5), 0.5),
        (3, torch.tensor(3)),
    ],
)
def test_number_is_right_within_its_precision(prediction, measured):
    assert judge_prediction(prediction, measured) == "right"


@pytest.mark.parametrize(
    ("prediction", "measured"), [(40, 37.9), (0.25, 0.23), (0, 0.004), (0.9, 1.0), (250, 256), (24, 22.5), (2000, 1950)]
)
def test_number_is_close_within_a_tenth(prediction, measured):
    assert judge_prediction(prediction, measured) == "close"


@pytest.mark.parametrize(
    ("prediction", "measured"),
    [
        (10, 11),  # counts must be equal
        (3, 4),
        (12, 11),
        (100, 128),
        (2021, 1950),
        (1990, 1950),
        (1, 1.11),
        (0, 0.04),
        (0.01, 6e-9),
        (0.5, 0.6),
        (0.3, 0.04),
        (0.4, 0.2),
        (0.999, 0.001),
        (0, 1.0),
        (0, 0.25),
        (50, 22.5),
        (6, 59),
        (-3, 3),
        (1, float("nan")),
        (1, float("inf")),
        (90, 0.5),
        (10**400, 0.5),
    ],
)
def test_distant_numbers_and_unequal_counts_are_wrong(prediction, measured):
    assert judge_prediction(prediction, measured) == "wrong"


@pytest.mark.parametrize(
    ("prediction", "measured", "answer"),
    [
        ("same", "same", "right"),
        (" Same ", "same", "right"),
        ("different", "same", "wrong"),
        ("others", "the others", "right"),
        ("1, 0", "1 and 0", "right"),
        ("nan", "1 and 0", "wrong"),
        (float("nan"), "nan", "right"),
        (1, "1", "right"),
        (1, "d_k", "wrong"),
        ("√d_k", "2√d_k", "wrong"),
        ("s", "S", "right"),
        (".", ".", "right"),
        (" ", "s", "wrong"),
        (True, True, "right"),
        (True, False, "wrong"),
    ],
)
def test_equal_words_count_as_correct(prediction, measured, answer):
    assert judge_prediction(prediction, measured) == answer


@pytest.mark.parametrize(
    ("prediction", "measured", "answer"),
    [
        ("8", 8, "right"),
        ("about 20", 20.5, "right"),
        ("~ 0.3", 0.32, "right"),
        ("90 %", 0.9, "right"),
        ("299,904", 299_904, "right"),
        ("more than 10", 23, "right"),
        ("> 10", 5, "wrong"),
        ("below 0.00001", "6e-09", "right"),
        ("under 5", 7, "wrong"),
        ("5 to 10", 7, "right"),
        (80, "78 times", "right"),
        ("80 times", "78 times", "right"),
        (60, "78 times", "wrong"),
        (0.1, "0.1 to 0.2", "right"),
        (0.5, "0.1 to 0.2", "wrong"),
        (2, "2.1 times", "right"),
    ],
)
def test_recognizes_numbers_in_phrases(prediction, measured, answer):
    assert judge_prediction(prediction, measured) == answer


@pytest.mark.parametrize(
    ("prediction", "measured", "answer"),
    [
        ((2, 4), (2, 4), "right"),
        ([2, 4], (2, 4), "right"),
        ("(2, 4)", (2, 4), "right"),
        (torch.Size([2, 4]), (2, 4), "right"),
        ((2, 5), (2, 4), "wrong"),
        ((2, 4, 1), (2, 4), "wrong"),
        (4, (4,), "right"),
        ((4,), 4, "right"),
        (2, (2, 4), "wrong"),
        ([0.5, 0.25], [0.5, 0.23], "close"),
        ([[3, 30]], torch.tensor([[3, 30]]), "right"),
        ([[3, 30]], torch.tensor([[3, 31]]), "wrong"),
    ],
)
def test_judges_list_by_its_worst_entry(prediction, measured, answer):
    assert judge_prediction(prediction, measured) == answer


@pytest.mark.parametrize(
    ("prediction", "measured"),
    [("many", 3), ("?", 0.5), (None, 3), (None, "same"), ("same", (2, 4)), (1, True), ([1, 2], "same"), (max, 3)],
)
def test_returns_none_if_values_cannot_be_compared(prediction, measured):
    assert judge_prediction(prediction, measured) is None


WORDS = {"nearly all": 1, "about half": 0.5, "like guessing": 0.1}


@pytest.mark.parametrize(
    ("measured", "choices", "nearest"),
    [
        (2.5, (1, 4, 16), 4),  # by ratio, 4 is nearer; by difference, 1 and 4 would be equally near
        (1.9, (1, 4, 16), 1),
        (6, (3, 30, 300), 3),
        (12, (3, 30, 300), 30),  # by ratio, 30 is nearer; by difference, 3 would be nearer
        (3e-8, (0.5, 0.01, 0), 0),
        (0.0, (0.1, 1), 0.1),
        (-3, (-4, 1), -4),
        (0.57, WORDS, "about half"),
        (0.93, WORDS, "nearly all"),
    ],
)
def test_nearest_choice_uses_ratio_for_positive_numbers(measured, choices, nearest):
    assert nearest_choice(measured, choices) == nearest


@pytest.mark.parametrize(
    ("prediction", "measured", "choices", "answer"),
    [
        (4, 2.5, (1, 4, 16), "right"),
        (1, 2.5, (1, 4, 16), "wrong"),
        (2.4, 2.5, (1, 4, 16), "right"),  # the prediction is not one of the choices
        (2, 2.5, (1, 4, 16), "wrong"),
        ("About half", 0.57, WORDS, "right"),
        ("nearly all", 0.57, WORDS, "wrong"),
        (0.6, 0.57, WORDS, "right"),
        ("everything", 0.57, WORDS, None),
    ],
)
def test_judges_choices_by_nearest_choice(prediction, measured, choices, answer):
    assert judge_choice(prediction, measured, choices) == answer


@pytest.mark.parametrize(
    ("prediction", "value", "sure"),
    [
        ((4, "80 %"), 4, 0.8),
        (("same", "100%"), "same", 1.0),
        (((2, 4), "5 %"), (2, 4), 0.05),
        (4, 4, None),
        ((2, 4), (2, 4), None),
        (("30 %", "70 %"), ("30 %", "70 %"), None),
        ((4, "very"), (4, "very"), None),
        ((4, "120 %"), (4, "120 %"), None),
    ],
)
def test_splits_prediction_and_confidence(prediction, value, sure):
    assert split_confidence(prediction) == (value, sure)

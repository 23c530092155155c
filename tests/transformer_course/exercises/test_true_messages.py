"""Tests with attempts for which a message or a reported line was once wrong."""

import re

import pytest

from tests.transformer_course.exercises.blind import BANK_FOLDER, FOLDER, check, read
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session

EXPECTED = {
    "practice_bank:4": ("give all the weight to the key with the largest score", "turn the scores into weights"),
    "lesson_01_lookup:1": ("divides by the lengths of the vectors", "a longer key gets a larger score"),
    "lesson_02_scaling:6": ("1. You use the variance of only one of the two factors", "`d_k` has its root taken"),
    "lesson_02_scaling:27": ("2. You take the mean over d_h", "by how many there are"),
    "lesson_03_heads:27": ("You count the biases even if `bias` is False", "is left out"),
    "lesson_03_heads:33": ("split w_o into heads along its rows", "Fix that, and your output is right"),
    "lesson_04_masks:2": ("hides each position from itself", "too small by 1"),
    "lesson_04_masks:33": ("hides each position from itself", "-1 stands"),
    "lesson_05_positions:25": ("The *last* query should line up with the last key", "`n_key` belongs"),
    "lesson_05_positions:31": ("2. You line up the first query with the first key", "`n_key` belongs"),
    "lesson_05_positions:35": ("The *last* query should line up with the last key", "`n_key` belongs"),
    "lesson_05_positions:37": ("You clamp some offsets that the table still covers", "`clamp`"),
    "lesson_05_positions:39": ("1. You line up the first query with the first key", "`n_key` belongs"),
    "lesson_07_decoder:22": ("1. You add bos to each row twice", "2 stands"),
    "lesson_09_language_model:19": ("you add up probabilities that aren't renormalized after top-k", "has hidden"),
    "lesson_11_modern_block:18": ("no position attends to later positions", "behind"),
    "lesson_12_clinic:13": ("your two outputs always agree", "compare a run with itself"),
    "lesson_13_scale:19": ("the backward pass computes two gradients", "you leave out the forward pass"),
    "lesson_13_scale:21": ("The forward pass takes 2, and", "both passes cost the same"),
    "lesson_13_scale:44": ("one micro-batch too few", "-1 stands"),
    "lesson_13_scale:51": ("one row per tick", "Nothing is transposed"),
    "lesson_13_scale:48": ("You schedule no backward passes", "the wrong way round"),
    "lesson_14_post_training:6": ("ou give `reference_rejected` the wrong sign", "adds where"),
}
"""A part of the correct message and a part of the earlier, wrong message for each attempt."""
ATTEMPTS = {attempt.id: attempt for folder in (FOLDER, BANK_FOLDER) for attempt in read(folder)}


@pytest.fixture(scope="module")
def session():
    return Session(every_exercise())


@pytest.mark.parametrize("name", EXPECTED)
def test_message_describes_attempt_correctly(name, session):
    correct, wrong = EXPECTED[name]
    message = re.sub(r"Line \d+: y", "Y", check(ATTEMPTS[name], session).message)
    assert correct in message
    assert wrong not in message

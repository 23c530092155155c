"""Tests for reading the published stubs of exercises."""

import ast

import pytest

from transformer_course.exercises import every_exercise
from transformer_course.workspace.exercise_stubs import exercise_stub

SOFTMAX = '''def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    raise NotImplementedError'''


def test_returns_the_published_cell_unchanged():
    assert exercise_stub("softmax") == SOFTMAX


@pytest.mark.parametrize("name", list(every_exercise()))
def test_every_stub_defines_its_exercise_without_an_answer(name):
    stub = exercise_stub(name)
    assert name in {getattr(node, "name", "") for node in ast.parse(stub).body}
    assert "NotImplementedError" in stub


def test_rejects_an_unknown_exercise():
    with pytest.raises(ValueError, match="there is no exercise 'softmin'"):
        exercise_stub("softmin")

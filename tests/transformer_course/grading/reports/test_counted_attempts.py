"""Tests for recognizing stubs. ``test_class_results`` tests which attempts count."""

from dataclasses import replace

import pytest

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.grading.reports.counted_attempts import answered_exercises


@pytest.mark.parametrize(
    ("body", "is_stub"),
    [
        ("raise NotImplementedError", True),
        ("y = x\n    raise NotImplementedError()", True),
        ("return x\n    raise NotImplementedError", False),
        ("if not x:\n        raise NotImplementedError\n    return x", False),
        ("return !", False),
        ("!ls\n    raise NotImplementedError", True),
    ],
)
def test_recognizes_answers_that_stop_at_the_stub(body, is_stub):
    book = replace(notebook(0), answers={"softmax": f"def softmax(x):\n    {body}"})
    assert answered_exercises(book) == (set() if is_stub else {"softmax"})

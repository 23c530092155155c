"""Tests for comparing a notebook with its source."""

import pytest

from notebooks.build import FOLDER
from tests.notebooks.break_rules import Modification, cell, drop, swap_last_two_sections
from tests.notebooks.compare_with_source import differences_from_source
from tests.notebooks.lesson import Lesson

NAME = "01_lookup"


@pytest.mark.parametrize(
    ("modify", "complaint"),
    [
        (lambda lesson: cell(lesson, "softmax").update(id="soft"), "cells: - soft"),
        (lambda lesson: cell(lesson, "softmax").metadata.update(tags=["exercise", "hard"]), "tags of softmax: - hard"),
        (lambda lesson: cell(lesson, "title").update(source="# 01"), "source of title: - # 01"),
        (lambda lesson: cell(lesson, "in-short-3").update(cell_type="raw"), "kind of in-short-3: - raw"),
        (drop("softmax"), "cells: + softmax"),
        (swap_last_two_sections, "cells: - "),
    ],
    ids=["id", "tag", "text", "type", "missing", "order"],
)
def test_reports_notebook_that_differs_from_its_source(modify: Modification, complaint: str) -> None:
    lesson = Lesson.stored(NAME)
    modify(lesson)
    source = FOLDER / "source" / f"{NAME}.py"
    assert any(message.startswith(complaint) for message in differences_from_source(source, lesson))

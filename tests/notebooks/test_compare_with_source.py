"""A notebook that differs from its source is reported."""

import pytest

from notebooks.build import FOLDER
from tests.notebooks.break_rules import Doctor, cell, drop, swap_the_last_two_sections
from tests.notebooks.compare_with_source import out_of_step
from tests.notebooks.lesson import Lesson

NAME = "01_lookup"


@pytest.mark.parametrize(
    ("doctor", "complaint"),
    [
        (lambda lesson: cell(lesson, "softmax").update(id="soft"), "cells: - soft"),
        (lambda lesson: cell(lesson, "softmax").metadata.update(tags=["exercise", "hard"]), "tags of softmax: - hard"),
        (lambda lesson: cell(lesson, "title").update(source="# 01"), "source of title: - # 01"),
        (lambda lesson: cell(lesson, "in-short-3").update(cell_type="raw"), "kind of in-short-3: - raw"),
        (drop("softmax"), "cells: + softmax"),
        (swap_the_last_two_sections, "cells: - "),
    ],
    ids=["id", "tag", "text", "type", "missing", "order"],
)
def test_reports_a_notebook_that_differs_from_its_source(doctor: Doctor, complaint: str) -> None:
    lesson = Lesson.stored(NAME)
    doctor(lesson)
    source = FOLDER / "source" / f"{NAME}.py"
    assert any(message.startswith(complaint) for message in out_of_step(source, lesson))

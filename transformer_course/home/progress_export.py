"""Export the learner's progress as a table."""

import csv
import io
import json
from typing import Any

from transformer_course.home.learner_progress import Home
from transformer_course.workspace.progress import read_progress

COLUMNS = ("lesson", "exercise", "stretch", "passed", "first_passed_at")


def rows(home: Home) -> list[dict[str, Any]]:
    """Return a row for each exercise of the course, in the order of the lessons."""
    times = read_progress(home.folder).passed
    return [
        {
            "lesson": lesson.outline.name,
            "exercise": exercise,
            "stretch": exercise in lesson.outline.stretch,
            "passed": exercise in lesson.passed,
            "first_passed_at": times[exercise].isoformat() if exercise in times else None,
        }
        for lesson in home.lessons
        for exercise in lesson.outline.exercises
    ]


def as_csv(home: Home) -> str:
    """Return the rows as CSV, with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(home))
    return text.getvalue()


def as_json(home: Home) -> str:
    """Return the rows as JSON."""
    return json.dumps(rows(home), indent=1) + "\n"

"""Write all of a class's tables and pages from the stored results, without running any code."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from transformer_course.grading.incoming.tables import as_csv
from transformer_course.grading.incoming.written_answers import write_sheet
from transformer_course.grading.judging.student_records import read_records
from transformer_course.grading.reports.class_page import class_page, mistake_counts
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.feedback import write_feedback
from transformer_course.grading.reports.gradebook import summary, write_gradebook
from transformer_course.grading.reports.point_changes import point_changes, recorded_points
from transformer_course.grading.reports.student_results import ClassResults
from transformer_course.grading.reports.written_page import written_answers_page
from transformer_course.grading.rules.class_rules import read_class_rules
from transformer_course.grading.rules.own_exercises import read_own_exercises
from transformer_course.grading.rules.settings import recorded_settings, write_settings
from transformer_lab.atomic_write import atomic_write_text


def write_report(out: Path, settings: Mapping[str, Any]) -> ClassResults:
    """Write all tables, pages and JSON files in a results folder, and return the results.

    Args:
        out: The results folder.
        settings: The settings of the run, from ``settings.new_settings``.

    Raises:
        ValueError: One of the instructor's tables cannot be read.
        OSError: A file cannot be read or written.
    """
    results = class_results(read_records(out), read_class_rules(out))
    results = replace(results, changes=point_changes(recorded_points(out), results))
    answers = [answer for student in results.students for answer in student.written]
    write_sheet(out, answers, results.rules.marks)
    if answers:
        atomic_write_text(out / "written_answers.html", written_answers_page(answers))
    write_settings(out, settings)
    write_gradebook(out, results, settings)
    write_feedback(out / "feedback", results)
    atomic_write_text(out / "class.html", class_page(results))
    atomic_write_text(out / "mistakes.csv", as_csv(mistake_counts(results)))
    return results


def read_results(out: Path, *, bonus: bool = False) -> ClassResults:
    """Return the results in a folder.

    Args:
        out: The folder.
        bonus: Whether points for stretch exercises are exported; this may change which notebook determines the points.

    Raises:
        ValueError: There are no results, or one of the instructor's tables cannot be read.
        OSError: A file cannot be read.
    """
    if recorded_settings(out) is None:
        raise ValueError(f"{out} has no results; run `transformer-course grade` first")
    read_own_exercises(out)
    return class_results(read_records(out), replace(read_class_rules(out), bonus=bonus))


def rewrite_report(out: Path) -> str:
    """Regenerate the report after the roster, overrides or marks have changed, and return the summary.

    Raises:
        ValueError: The folder contains no results, or one of the instructor's tables cannot be read.
        OSError: A file cannot be read or written.
    """
    settings = recorded_settings(out)
    if settings is None:
        raise ValueError(f"{out} has no results; run `transformer-course grade` first")
    read_own_exercises(out)
    return summary(out, write_report(out, settings))

"""Submission times from Moodle's grading worksheets, because Moodle's downloads do not contain them.

A worksheet contains a row for each student, with the participant number that is also in the name of the student's file
or folder. Moodle assigns new numbers for each assignment, so a worksheet never matches a different assignment's
download.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from transformer_course.grading.incoming.column_titles import PARTICIPANT, find_columns, participant_number
from transformer_course.grading.incoming.printable_text import printable
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.incoming.submission_times import Time
from transformer_course.grading.incoming.tables import Table
from transformer_course.grading.incoming.written_time import MAX_TIME_LENGTH, in_zone, read_time

PLATFORM = "Moodle"
TIME_SOURCE = "Moodle's grading worksheet"
NO_TIME = ("", "-")
"""The text that Moodle writes instead of a time if a student has not submitted anything."""


def read_submission_times(
    path: Path, zone: ZoneInfo | None = None, columns: Mapping[str, str] | None = None
) -> dict[str, Time]:
    """Return the time at which each participant last changed their submission, keyed by participant number.

    Args:
        path: The worksheet.
        zone: The time zone of the times in the worksheet. None means the local time zone.
        columns: Titles of columns that the instructor chose, with the keys of ``column_titles.TITLES``.

    Raises:
        ValueError: The table has no column for participant numbers or no column for submission times.
        OSError: The table cannot be read.
    """
    table = Table(path)
    numbers, times = _number_column(table, columns), _time_column(table, zone, columns)
    if numbers is None or times is None:
        missing = "participant numbers" if numbers is None else "submission times"
        key = "id" if numbers is None else "submitted"
        raise ValueError(
            f"{path} has no column for {missing}; its columns are {table.listed_titles}. If it is a grading worksheet "
            f"from Moodle, choose the column with --columns {key}=TITLE"
        )
    cells = {table.read(row, numbers): table.read(row, times) for row in table.rows}
    return {participant_number(number) or number: _read_cell(text, zone) for number, text in cells.items() if number}


def has_submission_times(path: Path, zone: ZoneInfo | None = None) -> bool:
    """Return whether a table is a grading worksheet from Moodle with submission times."""
    table = Table(path)
    return _number_column(table) is not None and _time_column(table, zone) is not None


def with_submission_times(submissions: Sequence[Submission], times: Mapping[str, Time]) -> list[Submission]:
    """Replace the submission times of all participants listed in the worksheet, and return the submissions."""
    return [
        replace(submission, handed_in=found[0].isoformat(timespec="seconds") if found[0] else "", time_source=found[1])
        if submission.platform == PLATFORM and (found := times.get(submission.lms_id))
        else submission
        for submission in submissions
    ]


def describe_matches(name: str, submissions: Sequence[Submission], times: Mapping[str, Time]) -> str:
    """Return a sentence about the number of students whose submission times are in a worksheet.

    Args:
        name: The name of the worksheet.
        submissions: The submissions.
        times: The times in the worksheet.
    """
    numbers = {submission.lms_id for submission in submissions if submission.platform == PLATFORM}
    if not numbers:
        return f"{name} has submission times from Moodle, but these submissions were not downloaded from Moodle."
    matched = numbers & times.keys()  # the other participants may be in a different worksheet
    if not matched:
        return f"{name} is for a different assignment: it lists none of the participants in these submissions."
    n_found = sum(times[number][0] is not None for number in matched)
    students = "student" if len(matched) == 1 else "students"
    return f"{name}: found the submission time of {n_found} of {len(matched)} {students}."


def _number_column(table: Table, columns: Mapping[str, str] | None = None) -> int | None:
    if "id" in (columns or {}):
        return find_columns(table, "id", columns)[0]
    return next((column for column in range(len(table.titles)) if table.has_only(column, PARTICIPANT)), None)


def _time_column(table: Table, zone: ZoneInfo | None, columns: Mapping[str, str] | None = None) -> int | None:
    """Return the column with a known title, or else the first of several columns with times.

    The last column with times is skipped, because it contains the times at which grades were entered.
    """
    if found := find_columns(table, "submitted", columns):
        return found[0]
    timed = [column for column in range(len(table.titles)) if _has_only_times(table, column, zone)]
    of_submissions = [
        column for column in timed[:-1] if any(_read_cell(table.read(row, column), zone)[0] for row in table.rows)
    ]
    return next(iter(of_submissions), None)


def _has_only_times(table: Table, column: int, zone: ZoneInfo | None) -> bool:
    cells = {table.read(row, column) for row in table.rows if any(row.cells)}
    return all(text in NO_TIME or _read_cell(text, zone)[0] for text in cells) and cells != {""}


def _read_cell(text: str, zone: ZoneInfo | None) -> Time:
    if text in NO_TIME:
        return None, f"{TIME_SOURCE} has no time for this submission"
    try:
        written = read_time(text, zone)
        if written.clock is None:
            raise ValueError("the date has no time of day")
        local = datetime.combine(written.day, written.clock)
        moment = local.replace(tzinfo=written.zone) if written.zone else in_zone(local, zone)
        return moment.astimezone(UTC), TIME_SOURCE
    except (ValueError, OverflowError) as error:
        quoted = f"“{printable(text)[:MAX_TIME_LENGTH]}”"
        return None, f"the time in {TIME_SOURCE} cannot be read: {quoted}, {error}"

"""Tests for reading submission times from Moodle's grading worksheets, in any language."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from transformer_course.grading.incoming.moodle_times import (
    TIME_SOURCE,
    describe_matches,
    has_submission_times,
    read_submission_times,
    with_submission_times,
)
from transformer_course.grading.incoming.submission import Submission

BERLIN = ZoneInfo("Europe/Berlin")
AFTERNOON = datetime(2026, 11, 3, 15, 15, tzinfo=UTC)
"""4:15 p.m. in Berlin."""
LANGUAGES = {
    "Last modified (submission)": ["Tuesday, 3 November 2026, 4:15 PM", "Tuesday, November 3, 2026, 4:15\u202fPM"],
    "Zuletzt geändert (Abgabe)": ["Dienstag, 3. November 2026, 16:15"],
    "Dernière modification (travail remis)": ["mardi 3 novembre 2026, 16:15"],
    "Última modificación (entrega)": ["martes, 3 de noviembre de 2026, 16:15"],
    "Ultima modifica (consegna)": ["martedì, 3 novembre 2026, 16:15"],
    "Última atualização (submissão)": ["terça-feira, 3 de novembro de 2026 às 16:15"],
    "Última modificação (envio)": ["terça-feira, 3 nov. 2026, 16:15"],
    "Laatst gewijzigd (inzending)": ["dinsdag, 3 november 2026, 16:15"],
    "Ostatnia modyfikacja (zadanie)": ["wtorek, 3 listopada 2026, 16:15"],
}
"""The time ``AFTERNOON`` in Moodle's formats, keyed by column title."""


def worksheet(path: Path, title: str, *times: str, grade_time: str = "-") -> Path:
    rows = [f'Participant {n};Ada;"a,b";10;{time};{grade_time}\n' for n, time in enumerate(times, 98765)]
    path.write_text(f"Identifier;Full name;Status;Maximum grade;{title};Graded\n" + "".join(rows), "utf-8")
    return path


@pytest.mark.parametrize("title", LANGUAGES)
def test_reads_times_in_every_language(tmp_path: Path, title: str):
    path = worksheet(tmp_path / "w.csv", title, *LANGUAGES[title], "-")
    *known, last = read_submission_times(path, BERLIN).values()
    assert known == [(AFTERNOON, TIME_SOURCE)] * len(LANGUAGES[title])
    assert last == (None, "Moodle's grading worksheet has no time for this submission")
    assert has_submission_times(path)


def test_finds_time_column_by_content_or_choice(tmp_path: Path):
    path = worksheet(tmp_path / "w.csv", "Muokattu", "-", "2026-11-03 16:15", grade_time="2026-12-01 10:00")
    assert read_submission_times(path, BERLIN)["98766"] == (AFTERNOON, TIME_SOURCE)
    assert read_submission_times(path, BERLIN, {"submitted": "Graded"})["98765"][0] == datetime(
        2026, 12, 1, 9, tzinfo=UTC
    )
    path = worksheet(tmp_path / "w.csv", "Muokattu", "-")  # without times in its cells, the column cannot be recognized
    assert not has_submission_times(path)
    with pytest.raises(ValueError, match=r"w\.csv has no column for submission times.*--columns submitted=TITLE"):
        read_submission_times(path)


def test_rejects_table_without_participant_numbers(tmp_path: Path):
    (tmp_path / "w.csv").write_text("ID,Last modified (submission)\nada,-\n")
    assert not has_submission_times(tmp_path / "w.csv")
    with pytest.raises(ValueError, match=r"no column for participant numbers.*--columns id=TITLE"):
        read_submission_times(tmp_path / "w.csv")
    assert read_submission_times(tmp_path / "w.csv", columns={"id": "1"}).keys() == {"ada"}


def test_treats_unreadable_time_as_unknown_with_reason(tmp_path: Path):
    path = worksheet(tmp_path / "w.csv", "Last modified (submission)", "3/11/2026, 16:15", "3 November 2026")
    for moment, source in read_submission_times(path).values():
        assert moment is None and source.startswith("the time in Moodle's grading worksheet cannot be read: “3")


def test_only_participants_in_the_worksheet_get_its_times():
    known = Submission("ada", Path("a"), lms_id="98765", platform="Moodle", time_source="all files …")
    other = Submission("ben", Path("b"), lms_id="98766", platform="Moodle", time_source="all files …")
    canvas = Submission("cleo", Path("c"), lms_id="98765", platform="Canvas", time_source="all files …")
    times = {"98765": (AFTERNOON, TIME_SOURCE), "1": (AFTERNOON, TIME_SOURCE)}
    ada, *others = with_submission_times([known, other, canvas], times)
    assert (ada.handed_in, ada.time_source) == ("2026-11-03T15:15:00+00:00", TIME_SOURCE)
    assert others == [other, canvas]
    both = {**times, "98766": (None, "no time")}
    submissions = [known, other, canvas]
    assert describe_matches("w.csv", submissions, times) == "w.csv: found the submission time of 1 of 1 student."
    assert describe_matches("w.csv", submissions, both) == "w.csv: found the submission time of 1 of 2 students."
    assert describe_matches("w.csv", [other], times) == (
        "w.csv is for a different assignment: it lists none of the participants in these submissions."
    )
    assert "were not downloaded from Moodle" in describe_matches("w.csv", [canvas], times)

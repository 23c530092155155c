"""Tests for recording passes, predictions, messages and reviews, and for invalid lines in the record."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from transformer_course.exercises import every_exercise
from transformer_course.lesson import notebook
from transformer_course.workspace.progress import (
    FILE,
    Prediction,
    Review,
    read_progress,
    record_messages,
    record_pass,
    record_prediction,
    record_review,
)
from transformer_course.workspace.working_copies import EDITIONS_FILE


def test_records_only_the_first_pass_of_an_exercise(tmp_path):
    before = datetime.now(UTC).replace(microsecond=0)
    for exercise in ("softmax", "similarity", "softmax"):
        record_pass(tmp_path, exercise)
    progress = read_progress(tmp_path)
    assert list(progress.passed) == ["softmax", "similarity"]
    assert all(before <= when <= datetime.now(UTC) for when in progress.passed.values())
    assert progress.problems == []
    assert len((tmp_path / FILE).read_text().splitlines()) == 2


def test_records_only_the_first_prediction_of_a_comparison(tmp_path):
    first = Prediction("why:1", "wrong", 0.9, "4", "2.5")
    record_pass(tmp_path, "softmax")
    for prediction in (
        first,
        Prediction("why:2", "right", None, "A", "A"),
        Prediction("why:1", "right", 1.0, "2.5", "2.5"),
    ):
        record_prediction(tmp_path, prediction)
    progress = read_progress(tmp_path)
    assert list(progress.predictions) == ["why:1", "why:2"]
    assert progress.predictions["why:1"] == first
    assert (list(progress.passed), progress.problems) == (["softmax"], [])


def test_records_every_review(tmp_path):
    reviews = [Review("softmax", rating, datetime(2026, 3, 2, 12, tzinfo=UTC)) for rating in ("hard", "good", "good")]
    for review in reviews:
        record_review(tmp_path, review)
    assert read_progress(tmp_path).reviews == reviews


def test_records_each_message_once_per_exercise(tmp_path):
    record_messages(tmp_path, "softmax", ["first_axis", "no_exponential"])
    record_pass(tmp_path, "softmax")
    record_messages(tmp_path, "softmax", ["first_axis"])
    record_messages(tmp_path, "attention", ["wrong"])
    progress = read_progress(tmp_path)
    assert progress.messages == {"softmax": ["first_axis", "no_exponential"], "attention": ["wrong"]}
    assert (list(progress.passed), progress.problems) == (["softmax"], [])


def test_reads_messages_recorded_by_earlier_versions(tmp_path):
    (tmp_path / "progress.jsonl").write_text('{"exercise": "softmax", "told": "first_axis"}\n')
    assert read_progress(tmp_path).messages == {"softmax": ["first_axis"]}


def test_progress_is_empty_without_a_record(tmp_path):
    assert read_progress(tmp_path / "nowhere") == read_progress(tmp_path)
    assert (read_progress(tmp_path).passed, read_progress(tmp_path).problems) == ({}, [])


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"3",
        b"\xff\x00",
        b'{"exercise": "softmax"}',
        b'{"exercise": "softmax", "passed": "yesterday"}',
        b'{"prediction": {"cell": "why:1"}}',
        b'{"prediction": {"cell": "why:1", "answer": "no", "sure": null, "said": "4", "measured": "5"}}',
        b'{"prediction": {"cell": "why:1", "answer": "right", "sure": 80, "said": "4", "measured": "5"}}',
        b'{"practiced": "softmax", "rating": "so-so", "when": "2026-01-02T03:04:05+00:00"}',
        b'{"practiced": "softmax", "rating": "good"}',
        b'{"prediction": {"cell": 1, "answer": "right", "sure": 0.8, "said": "4", "measured": "5"}}',
    ],
)
def test_reports_and_skips_invalid_line(tmp_path, line):
    record_pass(tmp_path, "softmax")
    with (tmp_path / FILE).open("ab") as file:
        file.write(line)  # without a newline, as after a full disk
    record_pass(tmp_path, "similarity")
    progress = read_progress(tmp_path)
    assert list(progress.passed) == ["softmax", "similarity"]
    assert progress.problems == [f"line 2 of {FILE} is not a record of a pass, a prediction, a mistake or a review"]


def test_times_with_and_without_zone_are_comparable(tmp_path):
    (tmp_path / FILE).write_text(json.dumps({"exercise": "softmax", "passed": "2026-01-02T03:04:05"}))
    record_pass(tmp_path, "similarity")
    first, second = read_progress(tmp_path).passed.values()
    assert first < second


@pytest.fixture
def in_a_notebook(session):
    session.shell = SimpleNamespace(user_ns={}, history_manager=SimpleNamespace(input_hist_parsed=[""]))


def test_records_pass_even_if_part_is_not_saved(learner_folder, in_a_notebook):
    verdict = notebook.check(every_exercise()["softmax"].reference)  # this function is not defined in the notebook
    assert verdict.passed and "could not be saved" in verdict.message
    assert not notebook.check(lambda query, keys: query, "similarity").passed
    assert list(read_progress(learner_folder).passed) == ["softmax"]


def test_records_reported_mistakes_but_not_stubs(learner_folder, in_a_notebook):
    similarity = every_exercise()["similarity"]
    for attempt in (similarity.mistakes[0].attempts[0], lambda query, keys: keys @ query * 1.7):
        assert not notebook.check(attempt, "similarity").passed

    def stub(scores):
        raise NotImplementedError

    notebook.check(stub, "softmax")
    assert read_progress(learner_folder).messages == {"similarity": [similarity.mistakes[0].name, "wrong"]}


def test_reports_recording_error_and_check_still_passes(learner_folder, in_a_notebook):
    (learner_folder / FILE).mkdir()
    verdict = notebook.check(every_exercise()["softmax"].reference)
    assert verdict.passed
    assert "\nNote: the home page will not show this result: [Errno 21] Is a directory" in verdict.message


def test_records_nothing_without_working_copies_or_notebook(learner_folder, session, in_a_notebook):
    shell, session.shell = session.shell, None
    assert notebook.check(every_exercise()["softmax"].reference).passed
    session.shell = shell
    (learner_folder / EDITIONS_FILE).unlink()
    assert notebook.check(every_exercise()["softmax"].reference).passed
    assert not (learner_folder / FILE).exists()

"""Tests that settings apply to later runs, and that changes to settings are reported."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from tests.transformer_course.grading.canned_worker import CORE, Canned, results
from tests.transformer_course.sandbox.sample_submissions import cells, write_notebook
from transformer_course.exercises import exercises_of
from transformer_course.grading.grade import grade
from transformer_course.grading.rules.class_rules import RuleChanges
from transformer_course.grading.rules.late_policy import LatePolicy
from transformer_course.grading.rules.settings import RunOptions
from transformer_course.sandbox.resource_limits import Limits


def submit_at(path: Path, time: datetime, source: str = "right") -> None:
    write_notebook(path, cells({}, others=[source]))
    os.utime(path, (time.timestamp(), time.timestamp()))


def test_settings_apply_to_later_runs(canned: Canned, tmp_path: Path):
    late, due = datetime(2026, 10, 13, 9, tzinfo=UTC), datetime(2026, 10, 12, tzinfo=UTC)
    names = {"ada": "lovelaceada_12345_111_01_lookup.ipynb", "eve": "eve_99999_222_01_lookup.ipynb"}
    for i, file in enumerate(names.values()):  # if the times were close together, they would count as download times
        submit_at(tmp_path / "class" / file, late + timedelta(hours=i))
    (tmp_path / "roster.csv").write_text("id,name\n12345,Ada Lovelace\n12346,Ben\n")
    out, policy = tmp_path / "out", LatePolicy({"": due}, penalty=10)
    text = grade([tmp_path / "class"], out, RuleChanges(roster=tmp_path / "roster.csv", late_policy=policy))
    assert "1 student in the roster submitted nothing" in text and "eve is not in the roster." in text
    n_graded = len(canned.graded)
    (out / "overrides.csv").write_text("student,exercise,points,comment\n12345,softmax,0,Seen in class.\n")
    os.utime(tmp_path / "class" / names["eve"], (due.timestamp(), due.timestamp()))  # submitted on time
    grade([tmp_path / "class" / names["eve"]], out)
    book = pd.read_csv(out / "gradebook.csv", index_col="student")
    assert len(canned.graded) == n_graded and list(book.index) == ["Ada Lovelace", "Ben", "eve"]
    softmax = next(e.points for e in exercises_of("01_lookup") if e.name == "softmax")
    assert list(book["points"]) == [CORE["01_lookup"] - softmax, 0, CORE["01_lookup"]]
    assert list(book["points after lateness"]) == pytest.approx([0.8 * book["points"].iloc[0], 0, CORE["01_lookup"]])
    assert list(book["status"]) == ["graded", "nothing submitted", "graded"]
    grade([tmp_path / "class"], out, run=RunOptions(fresh=True))
    assert pd.read_csv(out / "gradebook.csv", index_col="student").loc["Ada Lovelace", "01_lookup: softmax"] == 0


def test_omitted_settings_survive_a_truncated_file(canned: Canned, tmp_path: Path):
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}, others=["right"]))
    out, due = tmp_path / "out", datetime(2026, 10, 12, 18, tzinfo=UTC)
    policy = LatePolicy({"": due, "01_lookup": due}, 10, 15)
    grade([tmp_path / "class"], out, RuleChanges(lessons=["01_lookup"], late_policy=policy, partial_credit=True))
    n = len(canned.graded)
    (out / "results.json").write_text('{"kind": "transf')
    text = grade([tmp_path / "class"], out, RuleChanges(late_policy=policy.changed({"": due}, None, None)))
    at = f"{due.astimezone():%Y-%m-%d %H:%M}"
    rules = f"only 01_lookup; lessons due {at}; 01_lookup due {at}; 10 % off for each day late"
    assert f"Rules: {rules}; a grace period of 15 minutes; partial credit." in text and len(canned.graded) == n
    assert results(out)["students"]["ada"]["points"] == CORE["01_lookup"]


def again(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [line for line in caplog.messages if line.startswith("Grading ")]


@pytest.mark.usefixtures("canned")
def test_reports_regrading_caused_by_changed_limits(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    out = tmp_path / "out"
    for student in ("ada", "ben"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", cells({}))
    grade([tmp_path / "class"], out, run=RunOptions(limits=Limits(seconds=60.0)))
    grade([tmp_path / "class"], out, run=RunOptions(limits=Limits(seconds=60.0)))
    assert not again(caplog)
    grade([tmp_path / "class" / "ada"], out)
    limits = "limits: 10 s and 2048 MB now, 60 s and 2048 MB last time"
    message = f"Grading 1 student again because settings have changed ({limits})."
    assert again(caplog) == [message]
    grade([tmp_path / "class"], out)  # only Ben's limits have changed
    assert again(caplog) == [message, message] and results(out)["limits"]["seconds"] == 10.0
    grade([tmp_path / "class"], out, run=RunOptions(limits=Limits(seconds=60.0), fresh=True))
    assert again(caplog) == [message, message]


@pytest.mark.usefixtures("canned")
def test_reports_library_calls_setting(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}))
    grade([tmp_path / "class"], tmp_path / "out")
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(library_calls="none"))
    assert "Rules: no points for answers that call the function to implement." in text
    grade([tmp_path / "class"], tmp_path / "out", RuleChanges(library_calls="remark"))
    message = "Grading 1 student again because settings have changed (library calls: {} now, {} last time)."
    assert again(caplog) == [message.format("none", "remark"), message.format("remark", "none")]


@pytest.mark.usefixtures("canned")
def test_library_calls_appear_on_every_page(tmp_path: Path):
    calls = "def softmax(scores): return torch.softmax(scores, -1)"
    write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({"softmax": calls}))
    grade([tmp_path], tmp_path / "out")
    assert results(tmp_path / "out")["students"]["ada"]["notebooks"][0]["notes"] == ["softmax calls torch.softmax."]
    assert "softmax calls torch.softmax." in (tmp_path / "out" / "class.html").read_text("utf-8")
    assert "your answer calls torch.softmax." in (tmp_path / "out" / "feedback" / "ada.html").read_text("utf-8")

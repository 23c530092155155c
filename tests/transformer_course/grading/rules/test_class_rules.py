from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.rules.class_rules import RuleChanges, read_class_rules, write_class_rules
from transformer_course.grading.rules.late_policy import LatePolicy
from transformer_course.grading.rules.overrides import Override


def keep(out: Path, changes: RuleChanges) -> None:
    write_class_rules(out, changes.apply(read_class_rules(out)), changes)


def test_stores_settings_in_results_folder(tmp_path: Path):
    assert read_class_rules(tmp_path).roster.people == []
    (tmp_path / "class.csv").write_text("id,name\n1,Ada\n")
    late_policy = LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=50)
    keep(tmp_path, RuleChanges(["01_lookup"], tmp_path / "class.csv", late_policy, partial_credit=True))
    rules = read_class_rules(tmp_path)
    assert rules.roster.people == [Person("1", "Ada")] and rules.late_policy == late_policy
    assert rules.partial_credit and rules.overrides == [] and rules.lessons == ["01_lookup"]
    assert next(iter(rules.describe())) == "only 01_lookup" and list(rules.describe())[-1] == "a roster of 1 student"
    (tmp_path / "overrides.csv").write_text("student,exercise,points\nAda,softmax,1\n")
    (tmp_path / "extensions.csv").write_text("student,lesson,due\nAda,,2026-10-20\n")
    keep(tmp_path, RuleChanges(["all"], tmp_path / "roster.csv", library_calls="none"))
    rules = read_class_rules(tmp_path)
    assert rules.overrides == [Override("Ada", "softmax", 1.0)] and rules.lessons == ["all"]
    assert rules.partial_credit and rules.late_policy == late_policy and rules.library_calls == "none"
    assert [extension.student for extension in rules.extensions] == ["Ada"]


def test_keeps_time_zone_and_roster_columns(tmp_path: Path):
    zone, columns = ZoneInfo("Europe/Berlin"), {"name": "Öğrenci"}
    (tmp_path / "class.csv").write_text("Öğrenci;X\nAda;1\n", "utf-8")
    keep(
        tmp_path, RuleChanges(roster=tmp_path / "class.csv", roster_columns=columns, late_policy=LatePolicy(zone=zone))
    )
    (tmp_path / "extensions.csv").write_text("student,lesson,due\nAda,,2026-10-20 18:00\n")
    keep(tmp_path, RuleChanges())
    rules = read_class_rules(tmp_path)
    assert rules.roster.people == [Person("Ada", "Ada")] and rules.roster_columns == columns
    assert [extension.due for extension in rules.extensions] == [datetime(2026, 10, 20, 16, tzinfo=UTC)]


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"due": {"": "soon"}}', '{"lessons": ["03"]}', '{"partial_credit": 1}', '{"timezone": "X"}']
)
def test_invalid_rules_error_names_the_file(tmp_path: Path, text: str):
    (tmp_path / "class_rules.json").write_text(text)
    with pytest.raises(ValueError, match=r"class_rules\.json does not contain valid class rules"):
        read_class_rules(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lessons": ["01_lookup", "03"]}, "there is no lesson '03'; the lessons are 00_bottleneck, 01_lookup, "),
        ({"library_calls": "some"}, "library_calls must be one of full, remark, none; got 'some'"),
        ({"roster_columns": {"name": "A"}}, "--columns requires --roster CSV or --worksheet CSV"),
    ],
)
def test_rejects_unknown_lessons_and_unknown_library_calls(changes: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        RuleChanges(**changes)

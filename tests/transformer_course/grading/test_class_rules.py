from datetime import UTC, datetime
from pathlib import Path

from transformer_course.grading.class_rules import read_class_rules, write_class_rules
from transformer_course.grading.late_policy import LatePolicy
from transformer_course.grading.overrides import Override
from transformer_course.grading.roster import Person


def test_what_is_set_is_kept_in_the_folder_of_results(tmp_path: Path):
    assert read_class_rules(tmp_path).roster.people == []
    (tmp_path / "class.csv").write_text("id,name\n1,Ada\n")
    late_policy = LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=50)
    write_class_rules(tmp_path, tmp_path / "class.csv", late_policy, partial_credit=True, own=[])
    write_class_rules(tmp_path, None, None, partial_credit=False, own=[])  # what is not set again stays
    rules = read_class_rules(tmp_path)
    assert rules.roster.people == [Person("1", "Ada")] and rules.late_policy == late_policy
    assert rules.partial_credit and rules.overrides == []
    (tmp_path / "overrides.csv").write_text("student,exercise,points\nAda,softmax,1\n")
    write_class_rules(tmp_path, tmp_path / "roster.csv", None, partial_credit=False, own=[])
    assert read_class_rules(tmp_path).overrides == [Override("Ada", "softmax", 1.0)]

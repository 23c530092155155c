import pytest

from transformer_course.grading.spreadsheet import escape_formula


@pytest.mark.parametrize(
    ("text", "written"),
    [("=1", "'=1"), ('"+1', "'\"+1"), ("a;=1", "a;'=1"), ("＝1", "'＝1"), ("a-b", "a-b"), ("Ada", "Ada"), ("", "")],
)
def test_what_begins_a_formula_gets_an_apostrophe(text: str, written: str):
    assert escape_formula(text) == written

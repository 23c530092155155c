import pytest

from transformer_course.grading.printable_text import clean_name, printable, without_control_codes


@pytest.mark.parametrize(
    ("name", "written"),
    [("\udcff", "?"), ("a\nb", "a_b"), ("  ", "_"), ("../a\\b", ".._a_b"), ("\x1b[2J", "_[2J"), ("e\u0301", "é")],
)
def test_a_name_that_is_not_safe_to_write_is_cleaned(name: str, written: str):
    assert clean_name(name) == written


def test_a_path_stays_a_path():
    assert printable("folder/a\x1b[31m\udcff.ipynb") == "folder/a_[31m?.ipynb"


def test_lines_stay_lines():
    assert without_control_codes("one\n\x1b[2Jtwo\r") == "one\n\N{REPLACEMENT CHARACTER}[2Jtwo\N{REPLACEMENT CHARACTER}"

from pathlib import Path

import pytest

from transformer_course.grading.incoming.column_titles import TITLES, find_columns, parse_columns
from transformer_course.grading.incoming.tables import Table, lower_case_words


def test_table_contains_only_normalized_titles():
    assert [title for titles in TITLES.values() for title in titles if lower_case_words(title) != title] == []


def test_finds_the_most_specific_title_first(tmp_path: Path):
    (tmp_path / "table.csv").write_text("SIS User ID,Student,ID,E-Mail\n1,2,3,4\n")
    table = Table(tmp_path / "table.csv")
    assert find_columns(table, "id") == [2, 0] and find_columns(table, "email") == [3]
    assert find_columns(table, "login") == [] and find_columns(table, "id", {"id": "student"}) == [1]


@pytest.mark.parametrize("choice", ["Bewertung", "points=Bewertung", ""])
def test_rejects_choice_without_a_known_key(choice: str):
    with pytest.raises(
        ValueError, match=f"--columns takes KEY=TITLE, where KEY is one of id, name, .*; got {choice!r}"
    ):
        parse_columns([choice])

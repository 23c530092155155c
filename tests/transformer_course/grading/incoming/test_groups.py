from pathlib import Path

import pytest

from transformer_course.grading.incoming.groups import with_groups
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person

ADA, CHLOE, BEN = Person("1", "Ada Lovelace", "ada@uni.edu"), Person("2", "Chloé Müller-Lang"), Person("3", "Ben Shaw")
CLASS = Roster([ADA, CHLOE, BEN])


def groups(tmp_path: Path, text: str, roster: Roster = CLASS) -> dict[str, list[Person]]:
    (tmp_path / "groups.csv").write_text(text, "utf-8")
    return {name: list(members) for name, members in with_groups(roster, tmp_path / "groups.csv").groups.items()}


@pytest.mark.parametrize(
    "text",
    [
        "group,name\nA,Ada Lovelace\nA,Chloé Müller-Lang\nB,Ben Shaw\n",
        "group,first name,last name\nA,Ada,Lovelace\nA,Chloé,Müller-Lang\nB,Ben,Shaw\n",
        'group,members\nA,"Lovelace, Ada, Müller-Lang, Chloé"\nB,Ben Shaw\n',
        'group,students\nA,"Lovelace, Ada; Müller-Lang, Chloé"\nB,"Shaw, Ben"\n',
        "Gruppe;Mitglieder\nA;Lovelace, Ada, Müller-Lang, Chloé\nB;Ben Shaw\n",
        "group,member 1,member 2\nA,Ada Lovelace,Chloé Müller-Lang\nB,Ben Shaw,\n",
        "group,name,email,role\nA,Somebody,ada@uni.edu,lead\nA,Chloé Müller-Lang,,\nB,Ben Shaw,,\n",
        "group,id,student\nA,1,Ada L\nA,2,Chloé\nB,3,Ben\n",
    ],
)
def test_reads_members_in_rows_cells_and_columns(tmp_path: Path, text: str):
    assert groups(tmp_path, text) == {"A": [ADA, CHLOE], "B": [BEN]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "group,members\nA,Ada Lovelace Ben Shaw\n",
            "line 2: 'Ada Lovelace Ben Shaw' does not clearly identify people ",
        ),
        (
            'group,members\nA,"Lovelace, Ada, Noether, E."\n',
            "line 2: 'Lovelace, Ada, Noether, E.' .* semicolons",
        ),
        (
            "group,member 1,member 2\nA,Ada Lovelace,Bem Shaw\n",
            "'Bem Shaw' does .* It may be Ben Shaw .3.. Write",
        ),
        (
            "group,members\nA,Lovelace, Ada\n",
            "line 2: the row has 3 cells, but there are 2 column titles; put cells that contain “,” in",
        ),
        ("team lead,members\nA,Ada\n", "has no column for groups; its columns are “team lead”, “members”"),
    ],
)
def test_rejects_ambiguous_members_with_advice(tmp_path: Path, text: str, message: str):
    with pytest.raises(ValueError, match=message):
        groups(tmp_path, text)


def test_groups_require_a_roster(tmp_path: Path):
    with pytest.raises(ValueError, match="line 2: 'Ada' cannot be matched with a student, because there is no roster"):
        groups(tmp_path, "group,name\nA,Ada\n", Roster([]))

"""Tests for finding the people in a list of names with any separators."""

import itertools

import pytest

from transformer_course.grading.incoming.name_lists import people_named
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person

ADA, CHLOE = Person("1", "Ada Lovelace", "ada@uni.edu"), Person("2", "Chloé Müller-Lang", login="cml")
BEN, KING = Person("3", "Ben Shaw"), Person("4", "King, Martin, Jr.")
CLASS = Roster([ADA, CHLOE, BEN, KING, Person("5", "Lina Lang"), Person("6", "Li Na"), Person("7", "Li Na")])


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Lovelace, Ada, Müller-Lang, Chloé", [ADA, CHLOE]),
        ("Müller-Lang, Chloé, Ada Lovelace, 3", [ADA, CHLOE, BEN]),
        ("King, Martin, Jr., Shaw, Ben", [BEN, KING]),
        ("Lovelace, Ada; Müller-Lang, Chloé", [ADA, CHLOE]),
        ("Lovelace, Ada & Müller-Lang, Chloé", [ADA, CHLOE]),
        ("Ada Lovelace and Ben Shaw", [ADA, BEN]),
        ("ada@uni.edu,cml", [ADA, CHLOE]),
        ("Ada, Ben, Chloé", [ADA, CHLOE, BEN]),
        ("Lovelace, Ada", [ADA]),
        ("Lovelace, A.", [ADA]),
        ("Chloé Müller-Lang", [CHLOE]),
        ("Lovelace, Ada, Nobody", []),
        ("Lovelace, Ada; Nobody", []),
        ("Ada Lovelace, Li Na", []),  # two people have the name Li Na
        ("Ada Lovelace Ben Shaw", []),
        ("", []),
        (", ,", []),
    ],
)
def test_matches_all_names_in_list_or_none(text: str, people: list[Person]):
    assert people_named(text, CLASS) == people


def test_name_order_does_not_matter():
    names = ["Lovelace, Ada", "Müller-Lang, Chloé", "Ben Shaw", "King, Martin, Jr."]
    for own in itertools.permutations(names):
        assert people_named(", ".join(own), CLASS) == [ADA, CHLOE, BEN, KING]


def test_ambiguous_list_matches_no_student():
    roster = Roster([Person("1", "Kim Lee"), Person("2", "Lee Park"), Person("3", "Kim"), Person("4", "Lee"), ADA])
    assert people_named("Park, Lee, Ada Lovelace", roster) == [roster.people[1], ADA]
    assert people_named("Lee, Kim, Ada Lovelace", roster) == []  # "Lee, Kim" could be Kim Lee, or Lee and Kim


def test_parses_long_list_quickly():
    people = [Person(str(n), f"First{n} Last{n}") for n in range(25)]
    assert people_named(", ".join(f"Last{n}, First{n}" for n in range(25)), Roster(people)) == people

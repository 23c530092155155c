"""Tests for matching names with the roster, including names that are spelled differently."""

import unicodedata
from dataclasses import replace

import pytest

from transformer_course.grading.incoming.people import Match, Roster
from transformer_course.grading.incoming.platform_names import PersonHint, read_platform_name
from transformer_course.grading.incoming.roster import Person

ADA = Person("00123", "Ada Lovelace", "ada.l@uni.edu", "al815")
BEN = Person("202611000000123", "Benoît Mandelbrot", "ben@uni.edu", "bm2")
JOERG = Person("456", "Jörg Müller", "jm@uni.edu", "jm7")
LI, LEI = Person("789", "李雷", "", "leili"), Person("790", "Jan van der Berg", "", "vdb")
CLASS = Roster([ADA, BEN, JOERG, LI, LEI])


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("Lovelace, Ada", ADA),
        ("ADA LOVELACE", ADA),
        ("ada_lovelace", ADA),
        ("lovelaceada", ADA),
        ("Copy of Ada Lovelace", ADA),
        ("Ada Lovelace (1)", ADA),
        ("Ada Lovelace 2", ADA),
        ("al815 - Copy", ADA),
        ("ada", ADA),
        ("Ada L", ADA),
        ("123", ADA),
        ("hw1_al815_final", ADA),
        ("week 3 Ada Lovelace", ADA),
        ("Group A-Ada Lovelace", ADA),
        ("Ada King Lovelace", ADA),
        ("2.02611E+14", BEN),
        ("2,02611E+14", BEN),
        ("Benoit Mandelbrot", BEN),
        (unicodedata.normalize("NFD", "Benoît Mandelbrot"), BEN),
        (unicodedata.normalize("NFD", "Jörg Müller"), JOERG),
        ("Joerg Mueller", JOERG),
        ("mullerjorg", JOERG),
        ("Joerg", JOERG),
        ("李雷", LI),
        ("vanderbergjan", LEI),
        ("Berg, Jan van der", LEI),
    ],
)
def test_finds_the_one_person_with_a_matching_name(name: str, person: Person):
    assert CLASS.find(name) == person and CLASS.has_match(name)


@pytest.mark.parametrize("name", ["eve", "week 1", "A", "23", "45", "00", "2.04E+14", "", "hw 1", "lab"])
def test_unknown_name_matches_no_student(name: str):
    assert CLASS.find(name) is None and not CLASS.has_match(name)


def test_uncertain_name_lists_candidates():
    other = Person("9", "Ada Byron")
    roster = Roster([ADA, other, BEN])
    assert roster.find("ada") is None and roster.all_called("ada") == [ADA, other]
    assert roster.all_called("Benoit Mandelbrod") == [BEN] and roster.all_called("Zoe") == []
    [match] = roster.match([PersonHint("Ada")]).values()
    assert match == Match((), (ADA, other))


def test_full_match_takes_precedence_over_partial_match():
    full, partial = PersonHint("Ada Lovelace", batch="w1"), PersonHint("ada", batch="w1")
    matches = CLASS.match([full, partial])
    assert matches[full].people == (ADA,) and matches[partial] == Match((), (ADA,))
    alone = replace(partial, batch="w2")
    assert CLASS.match([full, alone])[alone].people == (ADA,)


def test_moodle_number_alone_does_not_identify_student():
    worksheet = Roster([Person("611", "Ada Lovelace"), Person("612", "Ben Shaw")])
    week_1 = [
        PersonHint("Ada Lovelace", "611", "", "Moodle", batch="1"),
        PersonHint("Ben Shaw", "612", "", "Moodle", batch="1"),
    ]
    week_2 = [
        PersonHint("Ada Lovelace", "612", "", "Moodle", batch="2"),
        PersonHint("Eve Hart", "611", "", "Moodle", batch="2"),
    ]
    found = worksheet.match([*week_1, *week_2])
    assert [found[hint].people for hint in week_1] == [(worksheet.people[0],), (worksheet.people[1],)]
    assert [found[hint].people for hint in week_2] == [(worksheet.people[0],), ()]
    hidden = PersonHint("Participant", "612", "", "Moodle", batch="3")
    assert worksheet.match([hidden])[hidden].people == (worksheet.people[1],)


def test_numbers_distinguish_people_with_same_name():
    annas = Roster([Person("611", "Anna Müller"), Person("612", "Anna Müller")])
    hints = [PersonHint("Anna Müller", number, "", "Moodle", batch="1") for number in ("611", "612")]
    later = [PersonHint("Anna Müller", number, "", "Moodle", batch="2") for number in ("701", "702")]
    found = annas.match([*hints, *later])
    assert [found[hint].people for hint in hints] == [(annas.people[0],), (annas.people[1],)]
    assert [found[hint] for hint in later] == [Match((), tuple(annas.people))] * 2


def test_roster_person_matches_only_one_namesake():
    roster = Roster([Person("12345", "Lina Li"), Person("777", "Ben Shaw")])
    real, other = (PersonHint("lilina", number, "", "Canvas") for number in ("12345", "54321"))
    ben = PersonHint("shawben", "777", "", "Canvas")
    found = roster.match([real, other, ben])
    assert found[real].people == (roster.people[0],) and found[other] == Match((), (roster.people[0],))
    assert roster.match([other, ben])[other].people == ()


@pytest.mark.parametrize(
    "name",
    [
        "HW 1_al815_attempt_2026-10-12-17-58-23_x.ipynb",
        "12345-67890 - Ada Lovelace - Oct 12, 2026 558 PM - 01_lookup.ipynb",
        "Lovelace, Ada(al815)",
        "Lovelace_Ada_al815_12345",
        "lovelaceada_12345_67890_01_lookup.ipynb",
        "Team 1-Ada Lovelace_98765_assignsubmission_file_",
    ],
)
def test_matches_names_from_every_platform(name: str):
    hint = read_platform_name(name)
    assert hint is not None and CLASS.match([hint])[hint].people == (ADA,)


def test_group_name_matches_all_members():
    people = [
        Person("1", "Ada Lovelace", group="Group 1"),
        Person("2", "Ben Shaw", group="Team X, Group 1"),
        Person("3", "Eve"),
    ]
    hint = PersonHint("group1", "2", "", "Canvas")
    assert Roster(people).match([hint])[hint].people == tuple(people[:2])
    given = Roster([replace(person, group="") for person in people], {"group1": people[1:]})
    assert given.match([hint])[hint].people == tuple(people[1:]) and given.has_match("Group 1")


def test_name_shared_by_two_people_matches_neither():
    people = [Person("1", "Ada Lovelace"), Person("2", "Ben Shaw"), Person("3", "Mary Ann Lee"), Person("4", "Ann Lee")]
    for name in ("Ada Lovelace, Ben Shaw", "ben_shaw_ada_lovelace"):
        hint = PersonHint(name)
        assert Roster(people).match([hint])[hint] == Match((), tuple(people[:2]))
    hint = PersonHint("Mary Ann Lee lab")
    assert Roster(people).match([hint])[hint].people == (people[2],)

from dataclasses import replace
from pathlib import Path

import pytest

from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person, read_roster

ADA = Person("a17", "Ada Lovelace", "ada@uni.edu", "al815")


def table(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    (folder / "roster.csv").write_bytes(text.encode(encoding))
    return folder / "roster.csv"


@pytest.mark.parametrize(
    "text",
    [
        "id,name,email,login\na17,Ada Lovelace,ada@uni.edu,al815\n",
        "ID;Name;E-Mail;Login\r\na17;Ada Lovelace;ada@uni.edu;al815\r\n",
        "Student ID\tFull name\tEmail address\tUsername\na17\tAda Lovelace\tada@uni.edu\tal815",
        "First name,Last name,ID number,Email,Username,Group\n\nAda,Lovelace, a17 ,ada@uni.edu,al815,2\n,,,,,\n",
        '\ufeff"SIS User ID","Student","SIS Login ID","Email"\n"a17","Ada Lovelace","al815","ada@uni.edu"\n',
    ],
)
def test_reads_rosters_with_any_known_titles(tmp_path: Path, text: str):
    [ada] = read_roster(table(tmp_path, text))
    assert replace(ada, group="") == ADA and ada.group == ("2" if "Group" in text else "")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize(
    "text",
    [
        "sep=;\r\nMatrikelnummer;Vorname;Nachname;E-Mail-Adresse;Benutzername\r\n00123;Zoë;Müller;z@uni.de;zoe\r\n",
        "Matr.-Nr.\tName\tVorname\tE-Mail\tKennung\n00123\tMüller\tZoë\tz@uni.de\tzoe\n",
        'sep=,\nNuméro étudiant,Nom,Prénom,Adresse de courriel,Identifiant\n00123,Müller,Zoë,"z@uni.de",zoe',
        "Nombre;Apellido(s);Número de ID;Dirección de correo;Nombre de usuario\nZoë;Müller;00123;z@uni.de;zoe\n",
    ],
)
def test_reads_roster_in_other_languages_and_encodings(tmp_path: Path, text: str, encoding: str):
    assert read_roster(table(tmp_path, text, encoding)) == [Person("00123", "Zoë Müller", "z@uni.de", "zoe")]


def test_instructor_can_choose_roster_columns(tmp_path: Path):
    path = table(tmp_path, "Öğrenci;Posta;No\nZoë Müller;z@uni.de;00123\n")
    assert read_roster(path) == [Person("z@uni.de", "", "z@uni.de")]  # the column is recognized by the @ in its cells
    columns = {"name": "öğrenci", "id": "3"}
    assert read_roster(path, columns) == [Person("00123", "Zoë Müller", "z@uni.de")]
    with pytest.raises(ValueError, match="no column 'Nom'; its columns are “Öğrenci”, “Posta”, “No”"):
        read_roster(path, {"name": "Nom"})


@pytest.mark.parametrize(
    "text",
    [
        "Identifier,Full name,Email address\nParticipant 98765,Ada Lovelace,ada@uni.edu\n",
        "ID;Vollständiger Name;E-Mail-Adresse\nTeilnehmer/in98765;Ada Lovelace;ada@uni.edu\n",
        "Identifiant\tNom complet\tAdresse de courriel\nParticipant98765\tAda Lovelace\tada@uni.edu\n",
    ],
)
def test_moodle_worksheet_is_a_roster(tmp_path: Path, text: str):
    assert read_roster(table(tmp_path, text)) == [Person("98765", "Ada Lovelace", "ada@uni.edu")]


def test_single_column_may_contain_commas(tmp_path: Path):
    assert read_roster(table(tmp_path, "name\nLovelace, Ada\n")) == [Person("Lovelace, Ada", "Lovelace, Ada")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "roster.csv is empty; it must have a row of column titles"),
        ("name\nAda\nBen\nAda\n", "roster.csv, line 4: the id 'Ada' occurs in an earlier row"),
        ("id,group\n,7\n", "roster.csv, line 2: the row has no id, name, email address or login"),
        ('id\n"a\n', "roster.csv, line 2: a quoted cell has no closing quotation mark"),
        ("Öğrenci;Grup\nAda;1\n", "has no column for an id, .* its columns are “Öğrenci”, “Grup”. Choose .*--columns"),
        ("Ada,ada@uni.edu\n", "must contain column titles, .* it contains “Ada”, “ada@uni.edu”"),
        (
            "id,name\n1,Lovelace, Ada\n",
            "line 2: the row has 3 cells, but there are 2 column titles; put cells .* in quotation marks",
        ),
    ],
)
def test_invalid_roster_error_is_specific(tmp_path: Path, text: str, message: str):
    with pytest.raises(ValueError, match=message):
        read_roster(table(tmp_path, text))


@pytest.mark.parametrize(
    "name",
    ["a17", "A17", "al815", "ada@uni.edu", "ada", "Ada Lovelace", "ada_lovelace", "lovelaceada", "Lovelace, Ada"],
)
def test_finds_person_by_any_identifier(name: str):
    assert Roster([ADA, Person("b", "Ben Ada-Smith")]).find(name) == ADA


def test_finds_names_with_many_words_and_accents():
    jan = Person("j", "Jan van der Bérg")
    assert Roster([jan]).find("vanderbergjan") == Roster([jan]).find("JANVANDERBERG") == jan


def test_ignores_rows_that_canvas_adds(tmp_path: Path):
    text = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Lab (12)\n,,,,,Manual Posting\n    Points Possible,,,,,10\n"
        '"Lovelace, Ada",12345,a17,ada@uni.edu,1,\n"Student, Test",99,,x,1,\n'
    )
    assert read_roster(table(tmp_path, text)) == [Person("12345", "Lovelace, Ada", "", "ada@uni.edu")]


def test_ambiguous_name_matches_no_student():
    roster = Roster([Person("1", "Li Na"), Person("2", "Lin A")])
    assert roster.find("lina") is None and roster.find("2", "lina") == Person("2", "Lin A")
    assert roster.find("unknown", "") is None

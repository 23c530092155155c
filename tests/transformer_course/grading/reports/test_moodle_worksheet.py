"""Tests for finding the columns in Moodle's worksheets by title, by content or by the instructor's choice."""

from pathlib import Path

import pytest

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.exercises import exercises_of
from transformer_course.grading.incoming.tables import Table
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.exports import merge_into_moodle
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.overrides import Override

FIRST = exercises_of("01_lookup")[0]
WORKSHEETS = {
    "German": "ID;Vollständiger Name;E-Mail-Adresse;Status;Bewertung;Bestwertung;Bewertung kann geändert werden;"
    "Zuletzt geändert (Bewertung);Feedback als Kommentar\nTeilnehmer/in98765;Zoë Müller;z@uni.de;-;;10,00;Ja;-;\n",
    "French": "Identifiant;Nom complet;Adresse de courriel;Statut;Note;Note maximale;La note peut être modifiée;"
    "Dernière modification (note);Feedback par commentaires\nParticipant98765;Zoë Müller;z@uni.de;-;;10,00;Oui;-;\n",
    "Spanish": "Identificador;Nombre completo;Dirección de correo;Estado;Calificación;Calificación máxima;"
    "La calificación puede ser cambiada;Última modificación (calificación);Comentarios de retroalimentación\n"
    "Participante 98765;Zoë Müller;z@uni.de;-;;10,00;Sí;-;\n",
    "by content": "Tunnus;Koko nimi;Osoite;Tila;Arvosana;Suurin;Voi muuttaa;Muokattu;Palaute\n"
    "Osallistuja98765;Zoë Müller;z@uni.de;-;;10,00;Kyllä;-;\n",
    "without names": "Tunnus;Tila;Arvosana;Suurin;Voi muuttaa;Muokattu;Palaute\nOsallistuja98765;-;-;10,00;Kyllä;-;\n",
}


@pytest.mark.parametrize("language", WORKSHEETS)
@pytest.mark.parametrize(
    ("separator", "encoding"), [(";", "utf-8"), (",", "utf-8-sig"), ("\t", "utf-16"), (":", "cp1252")]
)
def test_reads_moodle_worksheet_in_any_language(tmp_path: Path, language: str, separator: str, encoding: str):
    decimal = "." if separator == "," else ","
    before = WORKSHEETS[language].replace("10,00", f"10{decimal}00").replace(";", separator)
    (tmp_path / "export.csv").write_bytes(before.encode(encoding))
    override = Override("98765", FIRST.name, 0.5)
    results = class_results({"98765": [notebook(0, lms_id="98765")]}, ClassRules(overrides=[override]))
    table = merge_into_moodle(tmp_path / "export.csv", results)
    (tmp_path / "moodle.csv").write_bytes(table.content)
    old, new = Table(tmp_path / "export.csv"), Table(tmp_path / "moodle.csv")
    assert (new.separator, new.encoding, new.titles) == (separator, old.encoding, old.titles)
    changed = {
        old.titles[i]: new.rows[0].cells[i] for i, cell in enumerate(old.rows[0].cells) if cell != new.rows[0].cells[i]
    }
    grade, feedback = old.titles[-5], old.titles[-1]
    assert list(changed) == [grade, feedback] and changed[grade] == f"0{decimal}5"
    assert f"{FIRST.name}: not right yet (0.5 of {FIRST.points})" in new.read(new.rows[0], len(new.titles) - 1)


def test_instructor_can_choose_worksheet_columns(tmp_path: Path):
    path = tmp_path / "export.csv"
    path.write_text("A,B,C,D\n7,Ada,x,\n")
    results = class_results({"7": [notebook(1)]})
    with pytest.raises(
        ValueError, match=r"no column for a grade; its columns are “A”, “B”, “C”, “D”.*--columns id=TITLE"
    ):
        merge_into_moodle(path, results)
    table = merge_into_moodle(path, results, columns={"id": "A", "grade": "3", "feedback": "d"})
    assert table.content.startswith(f"A,B,C,D\n7,Ada,{FIRST.points},<b>".encode())


def test_worksheet_without_comments_gets_only_grades(tmp_path: Path):
    text = "ID;Vollständiger Name;Bewertung;Bestwertung;Zuletzt geändert (Bewertung)\nTeilnehmer/in7;Ada;;10,00;-\n"
    (tmp_path / "export.csv").write_bytes(text.encode())
    table = merge_into_moodle(tmp_path / "export.csv", class_results({"7": [notebook(1)]}))
    assert table.content.decode() == text.replace("Ada;;", f"Ada;{FIRST.points};")
    assert "no column for feedback comments: turn on" in table.messages

"""Column titles in the tables of other systems, in several languages."""

import re
from collections.abc import Mapping, Sequence

from transformer_course.grading.incoming.tables import Table, lower_case_words

TITLES = {
    "id": (
        *("id", "student id", "id number", "sis user id", "user id", "student number", "matriculation number"),
        *("matrikelnummer", "matrikelnr", "matrikel nr", "matr nr", "martikelnummer", "id nummer"),
        *("numéro étudiant", "numéro d étudiant", "n étudiant", "numéro d identification", "matricule"),
        *("número de id", "número de identificación", "matrícula", "dni", "matricola", "numero di matricola"),
        *("número de estudante", "número mecanográfico", "studentnummer", "numer albumu", "nr albumu", "identifier"),
    ),
    "name": (
        *("name", "full name", "student", "student name", "vollständiger name", "studierende", "studierender"),
        *("nom complet", "nom et prénom", "prénom nom", "étudiant", "nombre completo", "nombre y apellidos"),
        *("estudiante", "alumno", "nome completo", "nome e cognome", "cognome e nome", "studente", "nome do aluno"),
        *("volledige naam", "naam", "pełna nazwa", "imię i nazwisko"),
    ),
    "first name": (
        *("first name", "firstname", "given name", "forename", "vorname", "rufname", "prénom", "nombre", "nombre s"),
        *("nome", "nome próprio", "voornaam", "imię", "imiona"),
    ),
    "last name": (
        *("last name", "lastname", "surname", "family name", "nachname", "familienname", "zuname"),
        *("nom de famille", "nom", "apellidos", "apellido s", "apellido", "cognome", "apelido", "sobrenome"),
        *("achternaam", "nazwisko"),
    ),
    "email": (
        *("email", "email address", "e mail", "e mail address", "mail", "sis email", "e mail adresse", "mailadresse"),
        *("email adresse", "adresse de courriel", "courriel", "adresse e mail", "adresse électronique", "adresse mail"),
        *("dirección de correo", "dirección email", "correo electrónico", "correo", "dirección de correo electrónico"),
        *("indirizzo email", "indirizzo e mail", "posta elettronica", "endereço de email", "endereço de e mail"),
        *("e mailadres", "emailadres", "adres e mail", "adres email"),
    ),
    "login": (
        *("login", "login id", "sis login id", "username", "user name", "user", "github", "github username"),
        *("benutzername", "anmeldename", "kennung", "benutzerkennung", "nutzername", "nutzerkennung", "account"),
        *("nom d utilisateur", "identifiant", "nombre de usuario", "usuario", "nome utente", "nome de utilizador"),
        *("nome de usuário", "gebruikersnaam", "nazwa użytkownika"),
    ),
    "group": (
        *("group", "group name", "groups", "team", "team name", "gruppe", "gruppen", "gruppenname"),
        *("groupe", "groupes", "grupo", "grupos", "equipo", "gruppo", "gruppi", "groep", "groepen", "grupa", "grupy"),
    ),
    "grade": (
        *("grade", "bewertung", "note", "calificación", "valutazione", "voto", "nota", "avaliação", "beoordeling"),
        *("cijfer", "ocena", "puntuación", "punkte"),
    ),
    "maximum": (
        *("maximum grade", "bestwertung", "note maximale", "calificación máxima", "valutazione massima"),
        *("voto massimo", "nota máxima", "avaliação máxima", "maximumcijfer", "maximale beoordeling"),
        *("ocena maksymalna", "maksymalna ocena", "höchstnote", "beste bewertung"),
    ),
    "submitted": (
        *("last modified submission", "zuletzt geändert abgabe", "dernière modification travail remis"),
        *("dernière modification envoi", "última modificación entrega", "última modificación envío"),
        *("ultima modifica consegna", "última atualização submissão", "última modificação envio"),
        *("última modificação submissão", "laatst gewijzigd inzending", "ostatnia modyfikacja zadanie"),
    ),
    "feedback": (
        *("feedback comments", "feedback", "feedback als kommentar", "feedback kommentar", "kommentare"),
        *("feedback par commentaires", "commentaires", "commentaires de feedback", "comentarios de retroalimentación"),
        *("comentarios", "retroalimentación", "commenti", "commenti feedback", "comentários de feedback"),
        *("comentários", "feedbackcommentaar", "feedback als commentaar", "komentarz zwrotny", "komentarz"),
    ),
}
"""Known titles for each kind of column, normalized by ``lower_case_words``, most specific first."""

ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")
PARTICIPANT = re.compile(r"(?:[^\W\d_]|/){5,} ?(\d+)")
"""Matches Moodle's names such as ``Participant 98765``, in any language."""


def find_columns(table: Table, key: str, chosen: Mapping[str, str] | None = None) -> list[int]:
    """Return the indices of the columns that match a key of ``TITLES``, most specific first.

    A column whose cells all contain an ``@`` is treated as a column of email addresses, regardless of its title.

    Args:
        table: The table.
        key: The kind of column.
        chosen: Titles or numbers (from 1) of columns that the instructor chose, with the keys of ``TITLES``.

    Raises:
        ValueError: The table has no column with the chosen title or number.
    """
    if title := (chosen or {}).get(key):
        return [_chosen_column(table, title)]
    own = [lower_case_words(title) for title in table.titles]
    found = [own.index(title) for title in TITLES[key] if title in own]
    if key == "email" and not found:
        found = [column for column in range(len(own)) if table.has_only(column, ADDRESS)]
    return found


def _chosen_column(table: Table, title: str) -> int:
    column = table.column(title)
    if column is None and title.isdecimal() and 1 <= int(title) <= len(table.titles):
        return int(title) - 1
    if column is None:
        raise ValueError(f"{table.path} has no column {title!r}; its columns are {table.listed_titles}")
    return column


def participant_number(text: str) -> str:
    """Return the number in one of Moodle's participant names, in any language, or an empty string.

    >>> participant_number("Participant 98765"), participant_number("Teilnehmer/in98765"), participant_number("a17")
    ('98765', '98765', '')
    """
    found = PARTICIPANT.fullmatch(text)
    return found[1] if found else ""


def parse_columns(choices: Sequence[str]) -> dict[str, str]:
    """Parse command-line choices of columns, such as ``grade=Bewertung``, into a dict with the keys of ``TITLES``.

    Raises:
        ValueError: A choice has the wrong format or an unknown key.

    >>> parse_columns(["grade=Bewertung", "id=1"])
    {'grade': 'Bewertung', 'id': '1'}
    """
    columns = {}
    for choice in choices:
        key, equals, title = choice.partition("=")
        if not equals or key.strip() not in TITLES:
            raise ValueError(
                f"--columns takes KEY=TITLE, where KEY is one of {', '.join(TITLES)}, and TITLE is a column's title or "
                f"its number, counting from 1; got {choice!r}"
            )
        columns[key.strip()] = title.strip()
    return columns

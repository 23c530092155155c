"""Tests for reading, cleaning and splitting pairs of English and German messages."""

import json
from itertools import combinations
from zipfile import ZipFile

import pytest

from authoring.message_pairs import clean, messages, plain, split, words


def test_reads_messages_in_both_languages_from_wheel(tmp_path):
    with ZipFile(tmp_path / "program.whl", "w") as file:
        for name, tree in {
            "lamp/translations/en": {"on": {"title": "Turn on"}, "off": "Turn off", "n": 1, "old": "Old"},
            "lamp/translations/fr": {"on": {"title": "Allumer"}, "off": "Éteindre", "n": 1, "new": "Nouveau"},
            "lamp/translations/fr-CA": {"off": "Fermer"},
            "door/translations/fr": {"title": "Porte"},
            "door/fr": {"title": "Porte"},
            "door/en": {"title": "Door"},
        }.items():
            file.writestr(f"{name}.json", json.dumps(tree))
    assert list(messages(tmp_path / "program.whl")) == [("Turn on", "Allumer"), ("Turn off", "Éteindre")]


@pytest.mark.parametrize(
    "message",
    [
        "Hello {name}",
        "%d files",
        "<b>Save</b>",
        "See https://example.org",
        "&Save",
        "Run `ls`",
        "12",
        "",
        "OK",
        "a " * 13,
    ],
)
def test_omits_markup_and_untranslatable_messages(message):
    assert clean([(message, "OK"), ("Fine", "Bien")]) == {"Fine": "Bien"}


def test_omits_overlong_translations():
    assert clean([("Save", "un deux trois quatre cinq"), ("Open", "un deux trois quatre cinq six")]) == {
        "Save": "un deux trois quatre cinq"
    }


def test_keeps_plain_text_and_first_translation():
    assert clean([("Don’t\nsave…", "Ne pas\u202fsauver\xa0…"), ("Don't save...", "Autre")]) == {
        "Don't save...": "Ne pas sauver ..."
    }
    assert plain(" a  b\n") == "a b"
    assert words("Don't save 2 files, été!") == ("don", "t", "save", "files", "été")


def nearly_identical(one, other):
    """Return whether two word sequences are equal after removing at most one word from each."""
    shorter = [[row, *(row[:i] + row[i + 1 :] for i in range(len(row)))] for row in (one, other)]
    return any(some == others for some in shorter[0] for others in shorter[1])


def test_held_out_sentences_have_no_near_duplicates():
    nouns, verbs = (
        ("file", "page", "lamp", "door", "window", "user", "event"),
        ("open", "close", "save", "move", "print"),
    )
    pairs = {f"You can {verb} the {noun} here.": verb for verb in verbs for noun in nouns}
    pairs |= {f"{verb} {noun}": noun for verb in verbs for noun in nouns}
    pairs |= {f"All {n} {a}s of this {a} are {verb}ed!": a for n in (1, 2) for a in nouns for verb in verbs}
    pairs |= {f"{a}s {verb}s {a}d {verb}ed {b}.": b for a in nouns for b in (a, "it") for verb in verbs}
    training, held_out = split(pairs, 3)
    assert held_out
    assert split(dict(reversed(pairs.items())), 3) == (training, held_out)
    assert set(training) | set(held_out) <= set(pairs.items())
    for source, _ in held_out:
        assert source[-1] in ".!?"
        assert 4 <= len(source.split()) <= 10
        assert not [other for other, _ in training if nearly_identical(words(source), words(other))]
    assert not [pair for pair in combinations([words(source) for source, _ in held_out], 2) if nearly_identical(*pair)]


def test_splits_all_pairs_into_training_and_held_out():
    pairs = {" ".join(f"{chr(97 + i % 26)}{chr(97 + i // 26)}{x}" for x in "abcd") + ".": "x" for i in range(500)}
    training, held_out = split(pairs, 10)
    assert 25 <= len(held_out) <= 80
    assert dict(training) | dict(held_out) == pairs
    assert len(training) + len(held_out) == 500

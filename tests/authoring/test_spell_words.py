"""Tests for the letters of words that the lesson on tokenizers asks SmolLM2 for."""

import json

from authoring.spell_words import COMMAND, FILE, TASKS, WORDS, question

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_contains_answer_to_every_question():
    assert CARD["command"] == COMMAND
    assert [row["word"] for row in CARD["words"]] == [*WORDS]
    for row in CARD["words"]:
        assert "".join(row["tokens"]).strip() == row["word"]
        for task in TASKS:
            asked, right = question(task, row["word"], WORDS[row["word"]])
            assert (row[task]["question"], row[task]["right"]) == (asked, right)


def test_questions_show_word_whole_or_in_letters():
    assert question("count", "apple", "p") == ("How many times does the letter p occur in apple?", "2")
    assert question("count, letters apart", "cat", "t") == ("How many times does the letter t occur in c a t?", "1")
    assert question("spell", "cat", "t") == ("Spell the word cat.", "c a t")
    assert question("copy", "cat", "t") == ("Repeat: c a t", "c a t")

"""Tests for the stored token counts of the lesson on tokenizers."""

import json

from authoring.compare_tokenizers import COMMAND, FILE, GPT_2, HUGGING_FACE, TEXTS

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_contains_texts_and_one_row_per_package():
    assert (CARD["command"], CARD["texts"]) == (COMMAND, TEXTS)
    assert [row["package"] for row in CARD["tokenizers"]] == [GPT_2, *HUGGING_FACE.values()]
    assert [row["model"] for row in CARD["tokenizers"]] == ["GPT-2", *HUGGING_FACE]


def test_tokens_of_stored_example_concatenate_to_original_text():
    for row in CARD["tokenizers"]:
        assert "".join(row["the sum"]).replace(" ", "") == TEXTS["numbers"].replace(" ", "")
        assert len(row["the sum"]) == row["tokens"]["numbers"]

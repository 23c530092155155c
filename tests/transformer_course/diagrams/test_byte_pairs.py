"""Tests for the diagram of byte-pair merges."""

import pytest

from transformer_course.diagrams.byte_pairs import merged
from transformer_course.exercises.lesson_tokenizers.decode import decode
from transformer_course.exercises.lesson_tokenizers.encode import encode

MERGES = {
    "abracadabra": [(97, 98), (114, 97), (256, 257)],
    "aaaaa": [(97, 97), (256, 256)],
    "a é": [(32, 195)],
    "ab": [],
}


@pytest.mark.parametrize("text", MERGES)
def test_each_row_shows_tokens_after_one_more_merge(text: str) -> None:
    d, merges = merged(text, MERGES[text]), MERGES[text]
    rows: dict[float, list[str]] = {}
    for box in d.boxes:
        rows.setdefault(box.y, []).append(box.name)
    for n, row in enumerate(rows.values()):
        for name, token in zip(row, encode(text, merges[:n]), strict=True):
            piece = decode([token], merges)
            assert name == piece.replace(" ", "␣") or "\ufffd" in piece
    assert len(rows) == len(merges) + 1


def test_lines_connect_merged_tokens_with_their_parts() -> None:
    d = merged("abracadabra", MERGES["abracadabra"])
    assert d.links() == {("a", "ab"), ("b", "ab"), ("r", "ra"), ("a", "ra"), ("ab", "abra"), ("ra", "abra")}
    assert [box.name for box in d.boxes if box.look == "highlighted"] == ["ab", "ab", "ra", "ra", "abra", "abra"]
    assert {"11 bytes", "9 tokens", "7 tokens", "5 tokens", "ab + ra → 258"} < {label.words for label in d.labels}


def test_shows_incomplete_utf8_character_in_hexadecimal() -> None:
    assert [box.name for box in merged("é", []).boxes] == ["c3", "a9"]

"""Tests that streaming yields complete characters as early as possible, and nothing after a stop string."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from transformer_lab.text.streaming import INCOMPLETE_CHARACTER, stop_at, stream_text

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())


def byte_level() -> Tokenizer:
    """Return a tokenizer like GPT-2's but without merges. Each byte is a token."""
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(ALPHABET)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def llama_like() -> Tokenizer:
    """Return a tokenizer like Llama's.

    Words begin with ▁, the first word's space is removed, and unknown characters become bytes.
    """
    tokens = ["<unk>", "▁a", "b", *(f"<0x{byte:02X}>" for byte in range(256))]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True, unk_token="<unk>"))
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer


BYTES, LLAMA = byte_level(), llama_like()


def byte_tokens(text: str) -> list[int]:
    return [3 + byte for byte in text.encode()]


characters = st.characters(exclude_categories=["Cs"], exclude_characters=INCOMPLETE_CHARACTER)


@given(st.text(characters))
def test_yields_each_character_with_its_last_byte(text):
    tokens_read = []
    stream = stream_text((tokens_read.append(token) or token for token in BYTES.encode(text).ids), BYTES.decode)
    for n, character in enumerate(text, start=1):
        assert next(stream) == character
        assert len(tokens_read) == len(text[:n].encode())
    assert list(stream) == []


@given(st.lists(st.integers(0, 255)))
def test_pieces_concatenate_to_the_decoded_text(tokens):
    assert "".join(stream_text(tokens, BYTES.decode)) == BYTES.decode(tokens)


def test_replaces_incomplete_character_at_the_end():
    tokens = BYTES.encode("a€").ids
    assert list(stream_text(tokens[:-1], BYTES.decode)) == ["a", "\ufffd"]
    assert list(stream_text([*tokens[:-1], tokens[0]], BYTES.decode)) == ["a", "\ufffda"]


def test_space_depends_on_earlier_tokens():
    assert list(stream_text([1, 2, 1], LLAMA.decode)) == ["a", "b", " a"]
    assert list(stream_text([1, 2, 1], LLAMA.decode, prompt=[1])) == [" a", "b", " a"]


def test_characters_in_byte_tokens_appear_once():
    """Llama's decoder revises its output while a character is incomplete, from '€' to '����' to '€€'."""
    assert list(stream_text([1, *byte_tokens("€€😀"), 2], LLAMA.decode)) == ["a", "€", "€", "😀", "b"]


def reference(text: str, stops: list[str]) -> str:
    for end in range(1, len(text) + 1):
        if complete := [stop for stop in stops if text[:end].endswith(stop)]:
            return text[: end - max(map(len, complete))]
    return text


@example(pieces=[*"aabaabac"], stops=["aabac"])
@example(pieces=["b", "a", "a"], stops=["a", "baa"])
@example(pieces=["baa"], stops=["a", "baa"])
@example(pieces=["b", "a"], stops=["a", "ba"])
@given(st.lists(st.text("ab", max_size=4)), st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
def test_stops_before_the_first_stop_string(pieces, stops):
    assert "".join(stop_at(pieces, stops)) == reference("".join(pieces), stops)


@given(st.text("ab"), st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=3))
def test_holds_back_only_possible_stop_prefixes(text, stops):
    displayed = ""

    def letters():
        for n, letter in enumerate(text):
            held_back = text[len(displayed) : n]
            assert held_back == "" or any(stop.startswith(held_back) for stop in stops)
            yield letter

    for piece in stop_at(letters(), stops):
        assert piece
        displayed += piece


def test_stops_reading_after_a_stop_string():
    stream = iter(["one ", "two. th", "ree"])
    assert list(stop_at(stream, ["."])) == ["one ", "two"]
    assert list(stream) == ["ree"]


def test_passes_text_through_without_stop_strings():
    stream = stop_at(itertools.repeat("ab"), [])
    assert [next(stream) for _ in range(3)] == ["ab"] * 3


def test_rejects_empty_stop_string_immediately():
    with pytest.raises(ValueError, match=r"a stop string must not be empty; got stops=\['a', ''\]"):
        stop_at(iter(["a"]), ["a", ""])

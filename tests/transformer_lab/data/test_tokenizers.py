"""Tests that texts round-trip through tokenizers, and that no text is encoded as a special token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from transformer_lab.data.tokenizers import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    SPECIAL_TOKENS,
    UNKNOWN_ID,
    bpe_tokenizer,
    character_tokenizer,
    load_tokenizer,
)

TEXTS = ["der Hund läuft", "the dog runs", "der Hund läuft schnell", "3 мая 2021 г."]
CHARACTERS = character_tokenizer(TEXTS)
PIECES = bpe_tokenizer(TEXTS * 5, 300)


@given(st.text(alphabet=sorted(set("".join(TEXTS)))))
def test_known_characters_round_trip(text):
    ids = CHARACTERS.encode(text).ids
    assert len(ids) == len(text)
    assert CHARACTERS.decode(ids) == text


def test_unknown_character_becomes_unk():
    assert CHARACTERS.encode("dž").ids[1] == UNKNOWN_ID


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_byte_level_bpe_encodes_every_text(text):
    ids = PIECES.encode(text).ids
    assert PIECES.decode(ids) == text
    assert not {PAD_ID, BOS_ID, EOS_ID, UNKNOWN_ID} & set(ids)


def test_frequent_pieces_become_tokens():
    assert len(PIECES.encode("der Hund läuft").tokens) == 3
    assert len(PIECES.encode("xyz").tokens) == 3
    assert 260 < PIECES.get_vocab_size() <= 300


def test_rejects_vocabulary_too_small_for_bytes():
    with pytest.raises(ValueError, match="at least 260 tokens; got vocab_size=259"):
        bpe_tokenizer(TEXTS, 259)


def test_reads_texts_once_and_lazily():
    def texts():
        yield from TEXTS

    assert bpe_tokenizer(texts(), 300).get_vocab() == bpe_tokenizer(TEXTS, 300).get_vocab()


@pytest.mark.parametrize("tokenizer", [CHARACTERS, PIECES], ids=["characters", "pieces"])
def test_special_token_strings_in_text_stay_plain_text(tokenizer, tmp_path):
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    for original_or_loaded in (tokenizer, load_tokenizer(tmp_path / "tokenizer.json")):
        for token in SPECIAL_TOKENS:
            assert not {PAD_ID, BOS_ID, EOS_ID} & set(original_or_loaded.encode(f"a{token}b").ids)


@pytest.mark.parametrize("tokenizer", [CHARACTERS, PIECES], ids=["characters", "pieces"])
def test_special_tokens_have_fixed_ids_without_text(tokenizer):
    assert (
        [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS]
        == [PAD_ID, BOS_ID, EOS_ID, UNKNOWN_ID]
        == [0, 1, 2, 3]
    )
    assert tokenizer.decode([BOS_ID, *tokenizer.encode("der Hund").ids, EOS_ID, PAD_ID]) == "der Hund"


def test_rejects_tokenizer_files_from_other_libraries(tmp_path):
    path = tmp_path / "tokenizer.json"
    with pytest.raises(ValueError, match=r"tokenizer\.json does not contain a tokenizer"):
        load_tokenizer(path)
    path.write_text("{")
    with pytest.raises(ValueError, match=r"tokenizer\.json does not contain a tokenizer"):
        load_tokenizer(path)
    Tokenizer(models.WordLevel({"<s>": 0, "<pad>": 1}, unk_token="<s>")).save(str(path))
    with pytest.raises(ValueError, match=r"must be <pad>, .*; got the ids \[1, None"):
        load_tokenizer(path)

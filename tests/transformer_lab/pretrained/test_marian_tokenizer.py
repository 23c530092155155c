"""Test Marian's tokenizer against ``transformers``."""

import json
import warnings

import pytest
import transformers

from tests.transformer_lab.pretrained.marian_folder import ENGLISH, GERMAN, LANGUAGE, write_tokenizer
from transformer_lab.pretrained.marian_tokenizer import MarianTokenizer

TEXTS = [
    *ENGLISH,
    "The  DOG\tsat — on   the mat",
    "catdogmat",
    "",
    " ",
    "日本 cat",
    "ｃａｔ ½",
    f"{LANGUAGE} the cat",
    f"{LANGUAGE}the cat",
    "the cat <unk",
    ">>",
    "<< cat >>",
]
shared_and_separate = pytest.mark.parametrize("separate", [False, True], ids=["one vocabulary", "two vocabularies"])


def tokenizers(folder, separate):
    write_tokenizer(folder, separate)
    target = {"target_vocab_file": str(folder / "target_vocab.json")} if separate else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Recommended: pip install sacremoses")
        theirs = transformers.MarianTokenizer(
            str(folder / "source.spm"), str(folder / "target.spm"), str(folder / "vocab.json"),
            separate_vocabs=separate, **target,
        )  # fmt: skip
    return MarianTokenizer(folder), theirs


@shared_and_separate
def test_encodes_like_transformers(tmp_path, separate):
    ours, theirs = tokenizers(tmp_path, separate)
    for text in TEXTS:
        assert [*ours.encode(text), ours.vocabulary["</s>"]] == theirs(text).input_ids, text
    assert ours.encode(f"{LANGUAGE} cat")[0] == ours.vocabulary[LANGUAGE]
    assert ours.vocabulary["<unk>"] in ours.encode("日本 cat")


def test_decodes_like_transformers(tmp_path):
    ours, theirs = tokenizers(tmp_path, separate=False)
    pad_id = ours.vocabulary["<pad>"]
    for text in [*GERMAN, "", "Schnee", "Hund日本Hund"]:
        ids = [pad_id, *theirs(text_target=text).input_ids, pad_id]
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=True), text


@shared_and_separate
def test_texts_round_trip(tmp_path, separate):
    # With two vocabularies, transformers 5 drops target tokens whose IDs are special tokens in the source vocabulary,
    # so its decoder cannot be a reference here.
    ours, theirs = tokenizers(tmp_path, separate)
    for text in GERMAN:
        assert ours.decode([*theirs(text_target=text).input_ids, ours.target_vocabulary["<pad>"]]) == text


def test_unknown_target_language_is_plain_text(tmp_path):
    ours, _ = tokenizers(tmp_path, separate=False)
    assert ours.encode(">>fra<< cat")[-1] == ours.encode("cat")[-1]
    assert ours.pieces[ours.encode(">>fra<< cat")[0]] == "▁"


BROKEN = {
    "source.spm": (None, "has no source.spm"),
    "target.spm": (b"damaged", "target.spm is corrupted: "),
    "vocab.json": (b"{}", "vocab.json lacks <unk>, </s>, <pad>"),
    "target_vocab.json": (b'{"<unk>": 1, "</s>": 0}', "target_vocab.json lacks <pad>"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_error_names_corrupted_files(tmp_path, name):
    content, message = BROKEN[name]
    write_tokenizer(tmp_path, separate=True)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        MarianTokenizer(tmp_path)


def test_rejects_pieces_without_ids(tmp_path):
    vocabulary = write_tokenizer(tmp_path) | {"die": "7"}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    with pytest.raises(ValueError, match=r"vocab.json must map every piece to an id; got 'die': '7'"):
        MarianTokenizer(tmp_path)


def test_rejects_unknown_token_ids(tmp_path):
    vocabulary = write_tokenizer(tmp_path)
    with pytest.raises(ValueError, match=rf"vocabulary has no tokens with the ids \[{len(vocabulary)}, -1\]"):
        MarianTokenizer(tmp_path).decode([3, len(vocabulary), -1])

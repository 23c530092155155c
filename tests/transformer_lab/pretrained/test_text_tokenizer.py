"""Test the tokenizers of published language models against ``transformers``."""

import pytest
import transformers
from tokenizers import Tokenizer

from tests.transformer_lab.pretrained.language_model_folders import END, FORMS, TEXTS, publish
from transformer_lab.pretrained.text_tokenizer import load_text_tokenizer


def theirs(folder, form):
    if form == "vocab.json":
        return transformers.GPT2Tokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))


def ours(folder):
    return load_text_tokenizer(folder, [load_text_tokenizer(folder).token_to_id(END) or 0])


@pytest.mark.parametrize("form", FORMS)
def test_tokens_match_transformers_and_round_trip(tmp_path, form):
    publish(tmp_path, form)
    tokenizer, other = ours(tmp_path), theirs(tmp_path, form)
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        assert ids == other(text)["input_ids"], text
        expected = other.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert tokenizer.decode(ids) == expected, text


def test_loading_disables_truncation_and_padding(tmp_path):
    publish(tmp_path)
    path = tmp_path / "tokenizer.json"
    original = Tokenizer.from_file(str(path))
    original.enable_truncation(3)
    original.enable_padding(length=70)
    original.save(str(path))
    assert load_text_tokenizer(tmp_path).decode(load_text_tokenizer(tmp_path).encode(TEXTS[1]).ids) == TEXTS[1]
    assert 3 < len(load_text_tokenizer(tmp_path).encode(TEXTS[1]).ids) < 70


@pytest.mark.parametrize(
    "files, message",
    [
        ({}, r"has no tokenizer.json and no vocab.json and no merges.txt$"),
        ({"vocab.json": "{}"}, r"has no tokenizer.json and no merges.txt$"),
        ({"tokenizer.json": "{"}, "cannot read a tokenizer from tokenizer.json: "),
        ({"vocab.json": "{", "merges.txt": ""}, r"cannot read a tokenizer from vocab.json and merges.txt: "),
        (
            {"vocab.json": '{"a": 0}', "merges.txt": "b c"},
            r"cannot read a tokenizer from vocab.json and merges.txt: ",
        ),
    ],
    ids=["no files", "no merges", "corrupted", "corrupted vocabulary", "merges of a different tokenizer"],
)
def test_error_names_missing_or_corrupted_files(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        load_text_tokenizer(tmp_path)

"""Preparing: from files to a tokenizer and tokens, once."""

import json

import pytest

from transformer_lab.data.corpus import LineErrors
from transformer_lab.data.prepare import ORIGIN, TOKENIZER, prepare
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID

WORDS = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"]
PAIRS = [(WORDS[i % 10], WORDS[i * 7 % 10]) for i in range(2500)]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), "utf-8")
    return path


def test_every_pair_comes_out_as_it_went_in(corpus, tmp_path):
    tokenizer, sources, targets = prepare([corpus], tmp_path / "data", 300, max_length=20)
    assert len(sources) == len(targets) == len(PAIRS)  # more than one chunk
    for (source, target), source_ids, target_ids in zip(PAIRS, sources, targets, strict=False):
        assert source_ids.tolist() == [*tokenizer.encode(source).ids, EOS_ID]
        assert target_ids.tolist() == [BOS_ID, *tokenizer.encode(target).ids, EOS_ID]


@pytest.mark.parametrize("line", ["zzzzzzzzzz\ta", "a\tzzzzzzzzzz"])
def test_an_overlong_side_is_reported_by_number(corpus, tmp_path, line):
    with corpus.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n{line.replace('zzzzzzzzzz', 'zzzzzzzzz')}\n")
    errors = LineErrors("skip")
    _, sources, _ = prepare([corpus], tmp_path / "data", 260, max_length=10, errors=errors)
    assert errors.examples == ["corpus.tsv, line 2501: more than 9 tokens"]
    assert len(sources) == 2501
    assert max(sources.lengths) <= 10
    with pytest.raises(ValueError, match=r"^corpus\.tsv, line 2501: more than 9 tokens$"):
        prepare([corpus], tmp_path / "strict", 260, max_length=10, errors=LineErrors("raise"))


def test_each_bad_line_is_reported_once(corpus, tmp_path):
    corpus.write_bytes(b"\n" + corpus.read_bytes())
    errors = LineErrors("skip")
    prepare([corpus], tmp_path / "data", 300, max_length=20, errors=errors)
    assert errors.counts == {"an empty line": 1}


def test_a_corpus_of_which_nothing_is_left_is_refused_with_the_reasons(tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_text("one\ntwo\n")
    with pytest.raises(ValueError, match=r"bad\.tsv: no sentence pair is left; skipped 2 × no tab[^\n]+$"):
        prepare([path], tmp_path / "data", 300, max_length=20)


def test_what_was_prepared_is_not_prepared_again(corpus, tmp_path):
    first, sources, _ = prepare([corpus], tmp_path / "data", 300, max_length=20)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "data").iterdir()}
    second, again, _ = prepare([corpus], tmp_path / "data", 300, max_length=20)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "data").iterdir()} == before
    assert first.to_str() == second.to_str() and list(sources[7]) == list(again[7])


def test_another_corpus_or_vocabulary_is_not_mixed_up_with_the_first(corpus, tmp_path):
    prepare([corpus], tmp_path / "data", 300, max_length=20)
    with pytest.raises(ValueError, match=r"'vocab_size': 300.*, not from .*'vocab_size': 301"):
        prepare([corpus], tmp_path / "data", 301, max_length=20)
    with corpus.open("a") as file:
        file.write("a\tb\n")
    with pytest.raises(ValueError, match=r"was made from .*'bytes'"):
        prepare([corpus], tmp_path / "data", 300, max_length=20)


def test_a_preparation_that_was_cut_off_is_done_again(corpus, tmp_path):
    data = tmp_path / "data"
    prepare([corpus], data, 300, max_length=20)
    (data / ORIGIN).unlink()
    (data / TOKENIZER).write_text("{")
    tokenizer, sources, _ = prepare([corpus], data, 300, max_length=20)
    assert len(sources) == 2500 and tokenizer.encode("eins").ids
    assert json.loads((data / ORIGIN).read_text())["files"] == [{"name": "corpus.tsv", "bytes": corpus.stat().st_size}]

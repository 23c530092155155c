"""Tests for preparing a corpus, that is, for training a tokenizer and storing tokens exactly once."""

import json
import os
import sys

import pytest

from transformer_lab.data.corpus import LineErrors
from transformer_lab.data.documents import read_documents, write_documents
from transformer_lab.data.prepare import HELD_OUT, ORIGIN, TOKENIZER, prepare, prepare_text, sha256_of
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID

WORDS = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"]
PAIRS = [(WORDS[i % 10], WORDS[i * 7 % 10]) for i in range(2500)]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), "utf-8")
    return path


def test_prepared_pairs_round_trip(corpus, tmp_path):
    tokenizer, sources, targets = prepare([corpus], tmp_path / "data", 300, max_length=20, errors=LineErrors())
    assert len(sources) == len(targets) == len(PAIRS)  # the corpus has more than one chunk
    for (source, target), source_ids, target_ids in zip(PAIRS, sources, targets, strict=False):
        assert source_ids.tolist() == [*tokenizer.encode(source).ids, EOS_ID]
        assert target_ids.tolist() == [BOS_ID, *tokenizer.encode(target).ids, EOS_ID]


@pytest.mark.parametrize("line", ["zzzzzzzzzz\ta", "a\tzzzzzzzzzz"])
def test_reports_overlong_side_by_line_number(corpus, tmp_path, line):
    with corpus.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n{line.replace('zzzzzzzzzz', 'zzzzzzzzz')}\n")
    errors = LineErrors()
    _, sources, _ = prepare([corpus], tmp_path / "data", 260, max_length=10, errors=errors)
    assert errors.examples == ["corpus.tsv, line 2501: more than 9 tokens"]
    assert len(sources) == 2501
    assert max(sources.lengths) <= 10


def test_skips_million_character_line_before_tokenizing(corpus, tmp_path):
    clean, *_ = prepare([corpus], tmp_path / "clean", 300, max_length=20, errors=LineErrors())
    with corpus.open("a", encoding="utf-8") as file:
        file.write("x" * 1_000_000 + "\ta\n" + "y" * 990 + "\ta\n")
    errors = LineErrors()
    tokenizer, sources, _ = prepare([corpus], tmp_path / "data", 300, max_length=20, errors=errors)
    assert errors.examples == [
        "corpus.tsv, line 2501: more than 1,000 characters",
        "corpus.tsv, line 2502: more than 19 tokens",
    ]
    assert tokenizer.get_vocab() == clean.get_vocab()
    assert len(sources) == len(PAIRS)


def test_detects_changed_corpus_of_equal_size(corpus, tmp_path):
    prepare([corpus], tmp_path / "data", 300, max_length=20, errors=LineErrors())
    text = corpus.read_text("utf-8")
    corpus.write_text(text[:-2] + ("q" if text[-2] != "q" else "p") + text[-1], "utf-8")
    with pytest.raises(ValueError, match="was prepared from"):
        prepare([corpus], tmp_path / "data", 300, max_length=20, errors=LineErrors())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in the file system")
def test_rejects_a_pipe_before_reading_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(ValueError, match=f"{path.name} is not a regular file; a corpus is read several times"):
            prepare([path], tmp_path / "data", 300, max_length=20, errors=LineErrors())


@pytest.mark.parametrize("name", [ORIGIN, "source.lengths.npy"])
@pytest.mark.parametrize("content", [b"", b'{"files": '], ids=["empty", "cut"])
def test_rejects_corrupted_files_in_the_folder(corpus, tmp_path, name, content):
    prepare([corpus], tmp_path / "data", 300, max_length=20, errors=LineErrors())
    (tmp_path / "data" / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{name} is corrupted"):
        prepare([corpus], tmp_path / "data", 300, max_length=20, errors=LineErrors())


def test_reports_each_bad_line_once(corpus, tmp_path):
    corpus.write_bytes(b"\n" + corpus.read_bytes())
    errors = LineErrors()
    prepare([corpus], tmp_path / "data", 300, max_length=20, errors=errors)
    assert errors.counts == {"an empty line": 1}


def test_error_for_empty_corpus_lists_reasons(tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_text("one\ntwo\n")
    with pytest.raises(ValueError, match=r"bad\.tsv: found no usable sentence pairs; skipped 2 × no tab[^\n]+$"):
        prepare([path], tmp_path / "data", 300, max_length=20, errors=LineErrors())


def test_reuses_prepared_corpus(corpus, tmp_path):
    first, sources, _ = prepare([corpus], tmp_path / "data", 300, max_length=20, errors=LineErrors())
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "data").iterdir()}
    second, again, _ = prepare([corpus], tmp_path / "data", 300, max_length=20, errors=LineErrors())
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "data").iterdir()} == before
    assert first.to_str() == second.to_str() and list(sources[7]) == list(again[7])


def test_rejects_different_corpus_or_vocabulary_size(corpus, tmp_path):
    prepare([corpus], tmp_path / "data", 300, max_length=20, errors=LineErrors())
    with pytest.raises(ValueError, match=r"vocab_size=300, .*, not corpus.*vocab_size=301, "):
        prepare([corpus], tmp_path / "data", 301, max_length=20, errors=LineErrors())
    with corpus.open("a") as file:
        file.write("a\tb\n")
    with pytest.raises(ValueError, match=r"was prepared from corpus\.tsv \(SHA-256 \w{8}…\), vocab"):
        prepare([corpus], tmp_path / "data", 300, max_length=20, errors=LineErrors())


def test_repeats_interrupted_preparation(corpus, tmp_path):
    data = tmp_path / "data"
    prepare([corpus], data, 300, max_length=20, errors=LineErrors())
    (data / ORIGIN).unlink()
    (data / TOKENIZER).write_text("{")
    tokenizer, sources, _ = prepare([corpus], data, 300, max_length=20, errors=LineErrors())
    assert len(sources) == 2500 and tokenizer.encode("eins").ids
    assert json.loads((data / ORIGIN).read_text())["files"] == [{"name": "corpus.tsv", "sha256": sha256_of(corpus)}]


# Corpora of text documents


DOCUMENTS = [" ".join(WORDS[i * k % 10] for k in range(1, 9 + i % 5)) + "\n" * (i % 3) for i in range(150)]


@pytest.fixture
def texts(tmp_path):
    write_documents(tmp_path / "a.txt", DOCUMENTS[:40])
    write_documents(tmp_path / "b.txt", DOCUMENTS[40:])
    return [tmp_path / "a.txt", tmp_path / "b.txt"]


@pytest.mark.parametrize("hold_out", [True, False])
def test_windows_contain_every_document_between_end_tokens(texts, tmp_path, hold_out):
    tokenizer, windows = prepare_text(
        texts, tmp_path / "data", 300, max_length=7, hold_out=hold_out, errors=LineErrors()
    )
    held_out = list(read_documents([tmp_path / "data" / HELD_OUT], LineErrors()))
    training = DOCUMENTS[: len(DOCUMENTS) - len(held_out)]
    assert training + held_out == DOCUMENTS and len(held_out) == (2 if hold_out else 0)
    stream = [EOS_ID, *(token for text in training for token in [*tokenizer.encode(text).ids, EOS_ID])]
    assert [*windows[0][:1], *(token for window in windows for token in window[1:])] == stream
    assert {len(window) for window in list(windows)[:-1]} == {8}


def test_tokenizer_training_excludes_held_out_text(tmp_path):
    write_documents(tmp_path / "a.txt", [*DOCUMENTS, "xyxyxyxyxy " * 20])
    tokenizer, _ = prepare_text(
        [tmp_path / "a.txt"], tmp_path / "data", 300, max_length=7, hold_out=True, errors=LineErrors()
    )
    assert len(tokenizer.encode("xyxyxyxyxy").ids) == 10


def test_reuses_prepared_text_only_with_equal_settings(texts, tmp_path):
    errors = LineErrors()
    texts[0].write_bytes(b"\xff\n" + texts[0].read_bytes())
    prepare_text(texts, tmp_path / "data", 300, max_length=7, hold_out=True, errors=errors)
    assert errors.counts == {"not UTF-8 (invalid start byte)": 1}
    prepare_text(texts, tmp_path / "data", 300, max_length=7, hold_out=True, errors=errors)
    assert sum(errors.counts.values()) == 1
    with pytest.raises(ValueError, match=r"hold_out=True, not a.*hold_out=False"):
        prepare_text(texts, tmp_path / "data", 300, max_length=7, hold_out=False, errors=LineErrors())


def test_rejects_files_without_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\n\xff\n")
    with pytest.raises(ValueError, match=r"^a\.txt: found no usable text; skipped 1 × not UTF-8"):
        prepare_text([tmp_path / "a.txt"], tmp_path / "data", 300, max_length=7, hold_out=True, errors=LineErrors())

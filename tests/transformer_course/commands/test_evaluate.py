"""Tests for ``transformer-course evaluate``."""

import json
import math
from pathlib import Path

import pytest
import torch

from tests.transformer_lab.pretrained.language_model_folders import publish
from transformer_course.commands.main import main
from transformer_lab.data.corpus import LineErrors
from transformer_lab.data.documents import read_documents
from transformer_lab.text.text_generator import TextGenerator
from transformer_lab.text.translator import Translator
from transformer_lab.training.metrics import bleu, chrf, exact_match
from transformer_lab.training.validation import TextValidation


@pytest.mark.parametrize("beam", [1, 4])
def test_prints_translation_scores(corpus, model, capsys, monkeypatch, beam):
    sources, references = (Path(path).read_text("utf-8").splitlines() for path in corpus)
    right = dict(zip(sources[::2], references[::2], strict=True))
    translations = [right.get(source, "a wrong translation") for source in sources]
    received = []

    def translate(self, texts, beam_size):
        received.extend(texts)
        assert beam_size == beam
        return iter(translations)

    monkeypatch.setattr(Translator, "translate", translate)
    assert main(["evaluate", *corpus, "-m", str(model), *(["--beam", "4"] if beam == 4 else [])]) == 0
    assert received == sources
    assert capsys.readouterr().out.splitlines() == [
        "pairs        200",
        f"exact match  {exact_match(translations, references):.2f} %",
        f"BLEU         {bleu(translations, references):.2f}",
        f"chrF         {chrf(translations, references):.2f}",
    ]
    assert 40 < exact_match(translations, references) < 100


def test_only_dates_corpus_defaults_to_one_thread(corpus, model, monkeypatch):
    set_to = []
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    monkeypatch.setattr(Translator, "translate", lambda self, texts, beam_size: iter(["1999-12-31"] * len(list(texts))))
    assert main(["evaluate", *corpus, "-m", str(model)]) == 0 and set_to == []
    assert main(["evaluate", "dates", "-m", str(model)]) == 0 and set_to == [1]
    assert main(["evaluate", "dates", "-m", str(model), "--threads", "2"]) == 0 and set_to == [1, 2]


def test_reports_bad_lines(model, tmp_path, capsys):
    path = tmp_path / "bad.tsv"
    path.write_text("eins\tEINS\nzwei\n", "utf-8")
    assert main(["evaluate", str(path), "-m", str(model)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("pairs        1\n") and "bad.tsv, line 2: no tab" in captured.err


@pytest.mark.parametrize("text, message", [("", "no sentence pairs to evaluate"), (None, "No such file")])
def test_reports_invalid_corpus_on_one_line(model, tmp_path, capsys, text, message):
    path = tmp_path / "corpus.tsv"
    if text is not None:
        path.write_text(text)
    assert main(["evaluate", str(path), "-m", str(model)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("transformer-course: ") and message in error and error.count("\n") == 1


def test_prints_perplexity_and_bits_per_byte(story, language_model, capsys):
    assert main(["evaluate", "--text", str(story), "-m", str(language_model)]) == 0
    model, texts = TextGenerator.load(language_model), list(read_documents([story], LineErrors()))
    validation = TextValidation(model.model, model.tokenizer, texts, model.bos_id, 100)
    loss = validation().loss
    assert capsys.readouterr().out.splitlines() == [
        "documents       30",
        f"bytes           {sum(len(text.encode()) for text in texts):,}",
        f"tokens          {validation.n_tokens:,}, in windows of 20",
        f"nats per token  {loss:.3f}",
        f"perplexity      {math.exp(loss):.2f}",
        f"bits per byte   {loss * validation.n_tokens / validation.n_bytes / math.log(2):.3f}",
    ]


def test_reports_bad_lines_in_text(language_model, tmp_path, capsys):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"eins\n\xff\nzwei\n")
    assert main(["evaluate", "--text", str(path), "-m", str(language_model)]) == 0
    captured = capsys.readouterr()
    assert "bytes           9\n" in captured.out and "bad.txt, line 2: not UTF-8" in captured.err


def test_reports_text_errors_on_one_line(model, story, language_model, tmp_path, capsys):
    (tmp_path / "empty.txt").write_text("\n")
    publish(tmp_path / "without-bos")
    config = tmp_path / "without-bos" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"bos_token_id": None}))
    for arguments, message in (
        ([str(story)], "evaluate --text requires --model FOLDER"),
        ([str(story), "-m", str(model)], "or gemma3_text; got ''"),
        ([str(tmp_path / "empty.txt"), "-m", str(language_model)], "empty.txt: no text to evaluate"),
        ([str(story), "-m", str(tmp_path / "without-bos")], "has no beginning-of-text token"),
    ):
        assert main(["evaluate", "--text", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("transformer-course: ") and message in error and error.count("\n") == 1


def test_reports_missing_model_on_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "dates"]) == 2
    message = "folder model-dates does not exist; run `transformer-course train dates` first, or pass --model"
    assert capsys.readouterr().err == f"transformer-course: {message}\n"

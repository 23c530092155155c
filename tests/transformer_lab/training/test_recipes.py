"""Tests that each recipe trains a model and writes a folder from which the model can be loaded and used."""

import gzip
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM

from transformer_lab.data.corpus import LineErrors
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.data.documents import read_documents, write_documents
from transformer_lab.data.prepare import HELD_OUT
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.tensor_files import PARAMETERS_FILE, read_tensors
from transformer_lab.text.text_generator import TextGenerator
from transformer_lab.text.translator import Translator
from transformer_lab.training import recipes
from transformer_lab.training.log import LOG_FILE
from transformer_lab.training.presets import CORPUS, DATES, TEXT
from transformer_lab.training.recipes import train_corpus, train_dates, train_text

WORDS = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"]
SHAPE = TransformerConfig(300, d_model=16, n_heads=2, d_ff=24, n_layers=1, max_length=20, dropout=0.1, pre_norm=True)
LANGUAGE_MODEL = LanguageModelConfig.llama(300, d_model=48, n_heads=4, d_ff=128, n_layers=1, max_length=32, dropout=0.1)
FEW_STEPS = {"steps": 6, "warmup": 2, "batch_tokens": 300, "log_every": 2}


@pytest.fixture
def corpus(tmp_path):
    german = [" ".join(WORDS[i * k % 10] for k in range(1, 2 + i % 4)) for i in range(300)]
    paths = [tmp_path / "x.de.gz", tmp_path / "x.en"]
    paths[0].write_bytes(gzip.compress("\n".join(german).encode()))
    paths[1].write_text("\n".join(line.upper() for line in german), "utf-8")
    return paths


def test_corpus_folder_contains_everything_needed(corpus, tmp_path):
    folder = tmp_path / "model"
    trainer = train_corpus(corpus, folder, corpus, replace(CORPUS, **FEW_STEPS), SHAPE)
    assert trainer.run()
    assert {path.name for path in folder.iterdir()} == {
        *("checkpoint.safetensors", "config.json", "data", "log.csv", "model.safetensors", "tokenizer.json")
    }
    translator = Translator.load(folder)
    source = ["eins zwei", "drei"]
    assert list(translator.translate(source)) == list(Translator(trainer.model, translator.tokenizer).translate(source))
    table = pd.read_csv(folder / LOG_FILE)
    assert table["step"].tolist() == [2, 4, 6]
    assert (
        table["validation_loss"].notna().tolist() == table["validation_score"].notna().tolist() == [False, False, True]
    )


def test_records_bad_lines_in_corpus_and_validation_set(corpus, tmp_path):
    bad = tmp_path / "bad.tsv"
    bad.write_text("eins\tEINS\nzwei\n", "utf-8")
    errors = LineErrors()
    train_corpus([bad], tmp_path / "model", [bad], replace(CORPUS, **FEW_STEPS), SHAPE, errors)
    assert errors.counts == {"no tab, so no translation": 2}


def test_rejects_empty_validation_before_preparing(corpus, tmp_path):
    empty = tmp_path / "empty.tsv"
    empty.touch()
    config = replace(CORPUS, **FEW_STEPS | {"validate_every": 2})
    with pytest.raises(ValueError, match=r"^empty\.tsv: found no usable validation pairs"):
        train_corpus(corpus, tmp_path / "model", [empty], config, SHAPE)
    assert not (tmp_path / "model").exists()


def test_logs_only_loss_without_validation(corpus, tmp_path):
    train_corpus(corpus, tmp_path / "model", config=replace(CORPUS, **FEW_STEPS), shape=SHAPE).run()
    table = pd.read_csv(tmp_path / "model" / LOG_FILE)
    assert table["loss"].notna().all() and table["validation_score"].isna().all()
    Translator.load(tmp_path / "model")


def test_rejects_folder_for_a_different_corpus(corpus, tmp_path):
    train_corpus(corpus, tmp_path / "model", config=replace(CORPUS, **FEW_STEPS), shape=SHAPE)
    with pytest.raises(ValueError, match="was prepared from"):
        train_corpus(corpus[::-1], tmp_path / "model", config=replace(CORPUS, **FEW_STEPS), shape=SHAPE)


def test_dates_training_excludes_held_out_strings(tmp_path, monkeypatch):
    monkeypatch.setattr(recipes, "N_TRAINING_DATES", 3000)
    monkeypatch.setattr(recipes, "N_HELD_OUT_DATES", 40)
    trainer = train_dates(tmp_path, replace(DATES, **FEW_STEPS))
    assert trainer.run()
    translator = Translator.load(tmp_path)
    trained = {translator.tokenizer.decode(ids.tolist()) for ids in trainer.batches.sources}
    held_out = set(trainer.validate.sources)
    assert len(trained) > 2500 and len(held_out) > 35 and trained.isdisjoint(held_out)
    assert max(len(source) for source in trained | held_out) <= translator.longest  # no source would be truncated
    assert "<unk>" not in "".join(translator.tokenizer.encode("".join(held_out)).tokens)
    assert pd.read_csv(tmp_path / LOG_FILE)["validation_score"].notna().tolist() == [False, False, True]


def test_seed_determines_the_parameters(corpus, tmp_path):
    first, same, other = (
        train_corpus(corpus, tmp_path / str(n), config=replace(CORPUS, seed=seed, **FEW_STEPS), shape=SHAPE).model
        for n, seed in enumerate([1, 1, 2])
    )
    differences = [
        (first.decoder.embedding.weight - model.decoder.embedding.weight).abs().max() for model in (same, other)
    ]
    assert differences[0] == 0 < differences[1]


# Recipes for language models


@pytest.fixture(scope="module")
def docstrings(tmp_path_factory):
    """Write a fifth of the docstrings of Python's standard library to files."""
    folder = tmp_path_factory.mktemp("docstrings")
    for name, texts in zip(("train", "held_out"), python_docstrings(), strict=True):
        write_documents(folder / f"{name}.txt", texts[::5])
    return folder / "train.txt", folder / "held_out.txt"


@pytest.mark.thorough
def test_language_model_beats_unigram_frequencies(docstrings, tmp_path):
    train, held_out = docstrings
    settings = replace(TEXT, steps=150, warmup=10, batch_tokens=512, lr=1e-2, log_every=50, validate_every=0)
    trainer = train_text([train], tmp_path / "model", [held_out], settings, LANGUAGE_MODEL)
    assert trainer.run()
    generator = TextGenerator.load(tmp_path / "model")
    tokens = [
        token for text in read_documents([held_out], LineErrors()) for token in generator.tokenizer.encode(text).ids
    ]
    _, counts = np.unique(tokens, return_counts=True)
    unigram_entropy = -float((counts / len(tokens) * np.log(counts / len(tokens))).sum())
    table = pd.read_csv(tmp_path / "model" / LOG_FILE)
    assert table["validation_loss"].dropna().item() < unigram_entropy - 0.2
    assert table["loss"].is_monotonic_decreasing


def test_text_folder_loads_as_a_published_model(docstrings, tmp_path):
    settings = replace(TEXT, **FEW_STEPS, ema=0.9, validate_every=3)
    trainer = train_text([docstrings[1]], tmp_path / "model", (), settings, LANGUAGE_MODEL)
    assert trainer.run()
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        *("checkpoint.safetensors", "config.json", "data", "log.csv", "model.safetensors", "tokenizer.json")
    }
    generator = TextGenerator.load(tmp_path / "model")
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path / "model").eval()
    text = next(read_documents([tmp_path / "model" / "data" / HELD_OUT], LineErrors()))
    tokens = torch.tensor([generator.tokenizer.encode(text).ids[:32]])
    with torch.no_grad():
        ours = generator.model(tokens)
        assert (theirs(tokens).logits - ours).abs().max() < 1e-4
        trainer.model.eval()
        assert (trainer.model(tokens) - ours).abs().max() > 1e-4  # the folder contains the averaged parameters
    assert (generator.bos_id, generator.eos_ids) == (2, [2])
    best = pd.read_csv(tmp_path / "model" / LOG_FILE)["validation_score"].max()
    assert best == trainer.progress.best < 0
    assert read_tensors(tmp_path / "model" / PARAMETERS_FILE)[1]["step"] in (3, 6)


def test_single_document_is_not_split(tmp_path):
    (tmp_path / "a.txt").write_text("one two three four five six seven\n" * 40)
    trainer = train_text([tmp_path / "a.txt"], tmp_path / "model", (), replace(TEXT, **FEW_STEPS), LANGUAGE_MODEL)
    assert trainer.validate is None and trainer.run()
    TextGenerator.load(tmp_path / "model")


def test_rejects_empty_validation_text(docstrings, tmp_path):
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(ValueError, match="no text has at least two tokens"):
        train_text(
            [docstrings[1]], tmp_path / "m", [tmp_path / "empty.txt"], replace(TEXT, **FEW_STEPS), LANGUAGE_MODEL
        )


@pytest.mark.parametrize("positions", ["alibi", "sinusoidal"])
def test_rejects_unpublishable_model_before_reading_text(docstrings, tmp_path, positions):
    shape = replace(LANGUAGE_MODEL, positions=positions)
    with pytest.raises(ValueError, match="no published layout matches this model"):
        train_text([docstrings[1]], tmp_path / "m", (), replace(TEXT, **FEW_STEPS), shape)
    assert not (tmp_path / "m").exists()

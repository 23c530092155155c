"""Tests that the stored translator matches its training command."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from authoring import train_translator
from authoring.message_pairs import words
from authoring.train_translator import DROPOUT, N_FIRST_LOSSES, NAME, SIZES, TRAINING, losses_in, new_translator
from transformer_course.stored_models.stored_model import trained
from transformer_lab.data.batches import Batch
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, PAD_ID
from transformer_lab.training.log import LOG_FILE
from transformer_lab.training.trainer import Trainer

BATCHES = Path(__file__).with_name("first_batches.json")
"""Tokens of the stored model's first training batches, because the corpus is too large to download in a test."""
VERBS = {"open": "ouvrez", "close": "fermez", "move": "déplacez", "see": "voyez", "take": "prenez", "hide": "cachez"}
NOUNS = {"lamp": "lampe", "door": "porte", "key": "clé", "room": "pièce", "page": "page", "table": "table"}


class FirstBatches:
    """Stand-in for ``Batches`` that returns the stored first batches."""

    pad_id = PAD_ID

    def __init__(self):
        self.batches = [Batch(*map(torch.tensor, pair)) for pair in json.loads(BATCHES.read_text())]

    def from_step(self, step):
        return iter(self.batches[step:])


@pytest.fixture(scope="module")
def stored():
    return trained(NAME)


def test_stored_model_has_same_initial_state(stored, tmp_path):
    Trainer(new_translator(stored.tokenizer).model, FirstBatches(), TRAINING, tmp_path).run(N_FIRST_LOSSES)
    # Dropout draws different random numbers on different processors.
    assert losses_in(tmp_path / LOG_FILE) == pytest.approx(stored.card["first_losses"], rel=0.01)


def test_first_batches_use_stored_tokenizer(stored):
    for batch in FirstBatches().batches:
        for source, target in zip(batch.source.tolist(), batch.target.tolist(), strict=True):
            assert source[-1] in (EOS_ID, PAD_ID)
            assert target[0] == BOS_ID
            text = stored.tokenizer.decode(target[1:])
            assert stored.tokenizer.encode(text).ids == target[1 : target.index(EOS_ID)]


def test_model_card_matches_training_command(stored):
    assert (stored.sizes, stored.card["steps"]) == (SIZES, TRAINING.steps)
    assert stored.card["first_losses"][0] == pytest.approx(math.log(SIZES["vocab_size"]), rel=0.1)
    means = list(stored.card["mean_losses"].values())
    assert means[-1] < 1.02 * min(means) < means[0] / 2


def test_first_batches_exclude_held_out_sentences(stored):
    held_out = {words(source) for source, _ in stored.card["held_out"]}
    read = {words(stored.tokenizer.decode(row)) for batch in FirstBatches().batches for row in batch.source.tolist()}
    assert len(read) > 50
    assert not held_out & read


def test_reads_losses_from_log(tmp_path):
    (tmp_path / LOG_FILE).write_text("step,lr,loss\n1,0.1,7.00004\n2,0.2,5\n")
    assert losses_in(tmp_path / LOG_FILE) == [7.00004, 5.0]


def test_command_stops_resumes_and_stores_training(tmp_path, monkeypatch):
    small = {"vocab_size": 300, "d_model": 8, "n_heads": 2, "d_ff": 8, "n_layers": 1, "max_length": 64}
    texts = [(f"Please {v} the {n} now.", f"Veuillez {f} la {m}.") for v, f in VERBS.items() for n, m in NOUNS.items()]
    texts += [(f"{v} {n}", f"{f} {m}") for v, f in VERBS.items() for n, m in NOUNS.items()]
    texts += [("A sentence unlike all others.", "Une phrase."), ("Nothing here is like that.", "Rien.")]
    monkeypatch.setattr(train_translator, "SIZES", small)
    monkeypatch.setattr(train_translator, "HOLD_OUT_EVERY", 1)
    monkeypatch.setattr(train_translator, "TRAINING", replace(TRAINING, steps=3, batch_tokens=100, save_every=1))
    monkeypatch.setattr(train_translator, "STEPS_PER_REPORT", 2)
    monkeypatch.setattr(train_translator, "CHECKPOINT", tmp_path / "run")
    monkeypatch.setattr(train_translator, "FOLDER", tmp_path)
    monkeypatch.setattr("transformer_course.stored_models.stored_model.FOLDER", tmp_path)
    monkeypatch.setattr(train_translator, "downloaded", lambda file, folder: folder)
    monkeypatch.setattr(train_translator, "messages", lambda path: iter(texts))

    def interrupted(self, max_steps):
        run(self, 1)

    run = Trainer.run
    monkeypatch.setattr(Trainer, "run", interrupted)
    train_translator.main()
    assert not list(tmp_path.glob(f"{NAME}/*"))
    monkeypatch.setattr(Trainer, "run", run)
    train_translator.main()
    again = trained(NAME)
    assert not (tmp_path / "run").exists()
    assert (again.sizes, again.card["steps"], len(again.card["first_losses"])) == (small, 3, 3)
    assert [list(pair) in again.card["held_out"] for pair in texts[-2:]] == [True, True]
    assert again.card["training_pairs"] == len(VERBS) * len(NOUNS)  # only the two-word messages are kept
    assert DROPOUT > 0
    assert set(again.parameters) == dict(new_translator(again.tokenizer).model.named_parameters()).keys()

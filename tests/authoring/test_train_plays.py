"""The stored Llama is what the command trains: it began as the command begins, and is stored as models are published.

The plays are not on every machine. The first batches are kept beside this test, as token ids.
"""

import json
import math
from pathlib import Path

import pytest
import torch

from authoring import train_plays
from authoring.plays import ARCHIVE
from authoring.train_plays import BATCH, COMMAND, CONFIG, NAME, STEPS, main, new_training
from transformer_course.stored_models.stored_model import FOLDER, trained
from transformer_lab.pretrained.load import load_language_model
from transformer_lab.tensor_files import read_tensors
from transformer_lab.training.loss import batch_loss

BATCHES = read_tensors(Path(__file__).parent / "first_batches_of_plays.safetensors")[0]["llama"].long()


@pytest.fixture(scope="module")
def stored():
    return trained(NAME)


def test_the_stored_model_began_as_the_command_begins(stored, monkeypatch):
    batches = iter(BATCHES)
    run = new_training(torch.arange(1000))
    monkeypatch.setattr(run, "draw", lambda: next(batches))
    losses = [run.step(STEPS) for _ in BATCHES]
    assert losses == pytest.approx(stored.card["first_losses"][: len(losses)], rel=1e-3)


def test_the_batches_that_are_kept_are_of_the_plays(stored):
    assert BATCHES.shape == (3, BATCH, CONFIG.max_length + 1)
    texts = [stored.tokenizer.decode(row) for row in BATCHES.flatten(0, 1).tolist()]
    assert sum(text.count("\n\n") for text in texts) > len(texts)  # speeches
    assert any("thou" in text for text in texts)


def test_the_card_is_that_of_the_command(stored):
    card = stored.card
    assert (card["command"], card["steps"], card["tokens_per_step"]) == (COMMAND, STEPS, BATCH * CONFIG.max_length)
    assert ARCHIVE in card["data"]
    assert card["first_losses"][0] == pytest.approx(math.log(CONFIG.vocab_size), rel=0.02)
    losses = list(card["mean_losses"].values())
    assert card["held_out_loss"] < losses[0]
    assert card["held_out_bits_per_byte"] < 3


def test_it_predicts_the_plays_as_well_as_its_card_says(stored):
    model, batch = load_language_model(FOLDER / NAME), BATCHES.flatten(0, 1)
    with torch.no_grad():
        loss = batch_loss(model, (batch[:, :-1],), batch[:, 1:], 0).item() / batch[:, 1:].numel()
    assert loss == pytest.approx(list(stored.card["mean_losses"].values())[-1], rel=0.07)


def test_its_folder_says_what_the_card_says(stored):
    options = json.loads((FOLDER / NAME / "config.json").read_text(encoding="utf-8"))
    assert options == stored.sizes
    loaded = load_language_model(FOLDER / NAME).config
    assert (loaded.n_kv_heads, loaded.d_ff, loaded.tied) == (CONFIG.n_kv_heads, CONFIG.d_ff, True)


def test_a_short_run_is_stored_and_its_checkpoint_removed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train_plays, "FOLDER", tmp_path / "stored")
    monkeypatch.setattr("transformer_course.stored_models.stored_model.FOLDER", tmp_path / "stored")
    text = "ROMEO: Who art thou?\n\nJULIET: I am she.\n\n" * 500
    monkeypatch.setattr(train_plays, "downloaded", lambda file, folder: folder / file)
    monkeypatch.setattr(train_plays, "plays", {Path("build", ARCHIVE): ([text], [text[:4000]])}.get)
    main(n_steps=2)
    assert trained(NAME).card["steps"] == 2
    assert trained(NAME).parameters.keys() == load_language_model_names()
    assert list((tmp_path / "build").iterdir()) == []


def load_language_model_names() -> set[str]:
    return set(read_tensors(FOLDER / NAME / "model.safetensors")[0])

"""Tests that the stored models of the plays match their training command in initial state and format.

The archive of plays may be missing. So the token IDs of the first batches of both runs are stored next to this test.
"""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from authoring.plays import ARCHIVE
from authoring.train_plays import RECIPES, main, parameters_of, sizes_of
from transformer_course.stored_models.stored_model import FOLDER, trained
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.pretrained.load import load_language_model
from transformer_lab.tensor_files import read_tensors
from transformer_lab.training.loss import batch_loss

FIRST_BATCHES, _ = read_tensors(Path(__file__).parent / "first_batches_of_plays.safetensors")


@pytest.mark.parametrize("kind", RECIPES)
def test_stored_model_has_same_initial_state(kind, monkeypatch):
    batches = iter(FIRST_BATCHES[kind].long())
    run = RECIPES[kind].training(torch.arange(1000))
    monkeypatch.setattr(run, "draw", lambda: next(batches))
    losses = [run.step(RECIPES[kind].steps) for _ in FIRST_BATCHES[kind]]
    assert losses == pytest.approx(trained(f"{kind}-plays").card["first_losses"][: len(losses)], rel=1e-3)


@pytest.mark.parametrize("kind", RECIPES)
def test_stored_batches_contain_speeches(kind):
    recipe, tokenizer = RECIPES[kind], trained(f"{kind}-plays").tokenizer
    assert FIRST_BATCHES[kind].shape[1:] == (recipe.batch, recipe.length + 1)
    texts = [tokenizer.decode(row) for row in FIRST_BATCHES[kind][0].tolist()]
    assert sum(text.count("\n\n") for text in texts) > len(texts)  # most texts contain several speeches
    assert any("thou" in text for text in texts)


@pytest.mark.parametrize("kind", RECIPES)
def test_model_card_matches_training_command(kind):
    recipe, card = RECIPES[kind], trained(f"{kind}-plays").card
    assert card["steps"] == recipe.steps
    assert card["tokens_per_step"] == recipe.batch * recipe.length
    assert card["sizes"] == sizes_of(recipe.config)
    assert card["command"] == f"python -m authoring.train_plays {kind}"
    assert ARCHIVE in card["data"]
    assert card["first_losses"][0] == pytest.approx(math.log(recipe.config.vocab_size), rel=0.02)
    losses = list(card["mean_losses"].values())
    assert losses[0] > 1.3 * losses[-1]
    assert card["held_out_loss"] < losses[0]


@pytest.mark.parametrize("kind", RECIPES)
def test_loss_on_plays_matches_model_card(kind):
    stored, batches = trained(f"{kind}-plays"), FIRST_BATCHES[kind].long().flatten(0, 1)
    run = RECIPES[kind].training(torch.arange(1000))
    run.model.load_state_dict(with_library_names(kind), strict=False)
    with torch.no_grad():
        loss = batch_loss(run.model, (batches[:, :-1],), batches[:, 1:], 0).item() / batches[:, 1:].numel()
    assert loss == pytest.approx(list(stored.card["mean_losses"].values())[-1], rel=0.07)


def with_library_names(kind: str) -> dict[str, torch.Tensor]:
    if kind == "llama":
        return load_language_model(FOLDER / "llama-plays").state_dict()
    stored = dict(trained("gpt-plays").parameters)
    return {**stored, "head.weight": stored["embedding.weight"]}


def test_loader_reads_llama_folder():
    folder, config = FOLDER / "llama-plays", RECIPES["llama"].config
    loaded, stored = load_language_model(folder), trained("llama-plays")
    assert (loaded.config.n_kv_heads, loaded.config.d_ff, loaded.config.tie_embeddings) == (2, config.d_ff, True)
    again = parameters_of(loaded)
    assert again.keys() == stored.parameters.keys()
    assert all(torch.equal(tensor, stored.parameters[name]) for name, tensor in again.items())


@pytest.mark.parametrize("kind", RECIPES)
def test_short_run_stores_model_and_removes_checkpoint(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("authoring.train_plays.FOLDER", tmp_path / "stored")
    monkeypatch.setattr("transformer_course.stored_models.stored_model.FOLDER", tmp_path / "stored")
    text = "ROMEO: Who art thou?\n\nJULIET: I am she.\n\n" * 200
    monkeypatch.setattr("authoring.train_plays.downloaded", lambda file, folder: folder / file)
    monkeypatch.setattr("authoring.train_plays.plays", {Path("build", ARCHIVE): ([text], [text[:4000]])}.get)
    monkeypatch.setattr("authoring.train_plays.VOCAB_SIZE", 270)
    monkeypatch.setitem(RECIPES, kind, replace(RECIPES[kind], steps=2))
    main(kind)
    stored = trained(f"{kind}-plays")
    assert stored.card["steps"] == 2
    assert stored.parameters.keys() == parameters_of(LanguageModel(RECIPES[kind].config)).keys()
    assert list((tmp_path / "build").iterdir()) == []

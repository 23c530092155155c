"""Tests that the stored GPT matches its training command, and that no held-out text is in the training data."""

import hashlib
import math
import re

import pytest
import torch

from authoring.language_model_training import N_FIRST_LOSSES, Training, encoded
from authoring.train_gpt import EXCLUDED_MODULES, N_STEPS, NAME, SIZES, new_training, packages, reference, texts
from transformer_course.stored_models.stored_model import trained
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.data.tokenizers import bpe_tokenizer

SQUARES = torch.arange(4000).square() % SIZES["vocab_size"]
"""A learnable token sequence that is the same on every machine."""
LOSSES_ON_SQUARES = (7.5356, 7.5262, 7.5090, 7.4664, 7.4217, 7.3607)

# Reading all of Python's docstrings is slow, and the stored model rarely changes.
reads_all_docstrings = pytest.mark.thorough


@pytest.fixture(scope="module")
def stored():
    return trained(NAME)


@pytest.fixture(scope="module")
def training_texts():
    return texts()


def take(run: Training, n: int) -> list[float]:
    return [run.step(N_STEPS) for _ in range(n)]


def test_short_run_reproduces_stored_losses():
    assert take(new_training(SQUARES), len(LOSSES_ON_SQUARES)) == pytest.approx(LOSSES_ON_SQUARES, rel=1e-3)


@reads_all_docstrings
def test_stored_model_has_same_initial_state(stored, training_texts):
    same = hashlib.sha256("".join(training_texts).encode()).hexdigest() == stored.card["training_sha256"]
    losses = take(new_training(encoded(training_texts, stored.tokenizer)), N_FIRST_LOSSES)
    # The texts, and therefore the batches, differ between Python versions.
    assert losses == pytest.approx(stored.card["first_losses"], rel=1e-3 if same else 0.02)


@reads_all_docstrings
def test_stored_tokenizer_matches_training_texts(stored, training_texts):
    again = bpe_tokenizer(training_texts, SIZES["vocab_size"]).get_vocab().keys()
    # The texts, and therefore the rare tokens, differ between Python versions.
    assert len(again & stored.tokenizer.get_vocab().keys()) > 0.9 * len(again)


def test_model_card_matches_training_command(stored):
    assert (stored.sizes, stored.card["steps"]) == (SIZES, N_STEPS)
    losses = list(stored.card["mean_losses"].values())
    assert stored.card["first_losses"][0] == pytest.approx(math.log(SIZES["vocab_size"]), rel=0.02)
    assert losses[0] > 1.5 * losses[-1]
    assert stored.card["held_out_loss"] < losses[0]


@reads_all_docstrings
def test_training_texts_exclude_held_out_texts(training_texts):
    def runs(text, n=8):
        words = re.findall(r"\w+", text)
        return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}

    held_out, trained_on = (set().union(*map(runs, some)) for some in (python_docstrings()[1], training_texts))
    assert len(held_out & trained_on) < 0.02 * len(held_out)  # some phrases occur in many modules


def test_reads_packages_and_reference_from_a_folder(tmp_path):
    for name, text in {"a/b.py": "'One.'", "a/c/d.py": "'Two.'\ndef f():\n 'One.'", "test/e.py": "'Three.'"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "first.py").write_text("'Four.'")
    (tmp_path / "pydoc_data").mkdir()
    (tmp_path / "pydoc_data/topics.py").write_text("# made by Sphinx\ntopics = {'x': 'Five.', 'y': 'Six.'}")
    assert "pydoc_data" in EXCLUDED_MODULES
    assert list(packages(tmp_path)) == ["One.", "Two."]
    assert reference(tmp_path) == ["Five.", "Six."]
    assert texts(tmp_path) == ["Four.", "One.", "Two.", "Five.", "Six."]

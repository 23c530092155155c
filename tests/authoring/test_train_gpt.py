"""The stored GPT is what the command trains, on texts of which nothing is held out."""

import hashlib
import math
import re
from itertools import pairwise

import pytest
import torch

from authoring.train_gpt import (
    COOLDOWN,
    FIRST,
    LEFT_OUT,
    NAME,
    SIZES,
    STEPS,
    WARMUP,
    Training,
    encoded,
    mean_loss,
    new_model,
    packages,
    rate_factor,
    reference,
    texts,
)
from transformer_course.stored_models.stored_model import trained
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.data.tokenizers import BOS_ID, bpe_tokenizer

SQUARES = torch.arange(4000).square() % SIZES["vocab_size"]
"""Tokens that are the same on every machine, and of which something can be learned."""
ON_SQUARES = (7.5356, 7.5262, 7.5090, 7.4664, 7.4217, 7.3607)
"""The losses of the first steps on them."""


@pytest.fixture(scope="module")
def stored():
    return trained(NAME)


@pytest.fixture(scope="module")
def training_texts():
    return texts()


def take(run: Training, n: int) -> list[float]:
    return [run.step(STEPS) for _ in range(n)]


def test_a_short_run_gives_the_losses_that_are_stored():
    assert take(Training(SQUARES), len(ON_SQUARES)) == pytest.approx(ON_SQUARES, rel=1e-3)


def test_the_stored_model_began_as_the_command_begins(stored, training_texts):
    same = hashlib.sha256("".join(training_texts).encode()).hexdigest() == stored.card["training_sha256"]
    losses = take(Training(encoded(training_texts, stored.tokenizer)), FIRST)
    # Another version of Python has other texts, so other batches.
    assert losses == pytest.approx(stored.card["first_losses"], rel=1e-3 if same else 0.02)


def test_the_stored_tokenizer_is_that_of_the_texts(stored, training_texts):
    again = bpe_tokenizer(training_texts, SIZES["vocab_size"]).get_vocab().keys()
    # Another version of Python has other texts, so other rare tokens.
    assert len(again & stored.tokenizer.get_vocab().keys()) > 0.9 * len(again)


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path):
    run, later = Training(SQUARES), Training(SQUARES)
    take(run, 2)
    run.save(tmp_path / "run.pt")
    later.resume(tmp_path / "run.pt")
    assert later.losses == run.losses
    assert take(later, 2) == take(run, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["run.pt"]


def test_the_card_is_that_of_the_command(stored):
    assert (stored.sizes, stored.card["steps"]) == (SIZES, STEPS)
    losses = list(stored.card["mean_losses"].values())
    assert stored.card["first_losses"][0] == pytest.approx(math.log(SIZES["vocab_size"]), rel=0.02)
    assert losses[0] > 1.5 * losses[-1]
    assert stored.card["held_out_loss"] < losses[0]


def test_nothing_that_is_held_out_is_trained_on(training_texts):
    def runs(text, n=8):
        words = re.findall(r"\w+", text)
        return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}

    held_out, trained_on = (set().union(*map(runs, some)) for some in (python_docstrings()[1], training_texts))
    assert len(held_out & trained_on) < 0.02 * len(held_out)  # phrases that any module may have


def test_packages_and_reference_are_read_from_a_folder(tmp_path):
    for name, text in {"a/b.py": "'One.'", "a/c/d.py": "'Two.'\ndef f():\n 'One.'", "test/e.py": "'Three.'"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "first.py").write_text("'Four.'")
    (tmp_path / "pydoc_data").mkdir()
    (tmp_path / "pydoc_data/topics.py").write_text("# made by Sphinx\ntopics = {'x': 'Five.', 'y': 'Six.'}")
    assert "pydoc_data" in LEFT_OUT
    assert list(packages(tmp_path)) == ["One.", "Two."]
    assert reference(tmp_path) == ["Five.", "Six."]
    assert texts(tmp_path) == ["Four.", "One.", "Two.", "Five.", "Six."]


def test_each_text_begins_with_bos(stored):
    ids = encoded(["a", "b c"], stored.tokenizer).tolist()
    assert [i for i, token in enumerate(ids) if token == BOS_ID] == [0, 2]


def test_the_rate_rises_stays_and_falls_to_nothing():
    factors = [rate_factor(step, 1000) for step in range(1000)]
    assert factors[WARMUP // 2 - 1] == pytest.approx(0.5)
    assert set(factors[WARMUP : int(1000 * (1 - COOLDOWN))]) == {1.0}
    assert all(later < earlier for earlier, later in pairwise(factors[1001 - int(1000 * COOLDOWN) :]))
    assert factors[-1] < 0.01


def test_the_mean_loss_is_that_of_a_plain_loop(stored):
    model, n = new_model(), SIZES["context_length"]
    ids = torch.randint(SIZES["vocab_size"], (2 * n + 5,), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        losses = [
            -model(window[None])[0, t].log_softmax(dim=-1)[window[t + 1]].item()
            for window in (ids[:n], ids[n : 2 * n])
            for t in range(0, n - 1)
        ]
    assert mean_loss(model, ids) == pytest.approx(sum(losses) / len(losses), rel=1e-4)

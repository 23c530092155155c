"""Tests for training the stored language models: resuming, batches, learning rate, losses and model card."""

from itertools import pairwise

import pytest
import torch

from authoring.language_model_training import (
    COOLDOWN_FRACTION,
    N_WARMUP_STEPS,
    Training,
    card,
    encoded,
    mean_loss,
    rate_factor,
)
from transformer_lab.data.tokenizers import BOS_ID, bpe_tokenizer
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig

IDS = torch.arange(500).square() % 299 + 1  # no ID equals the padding ID


def new_training() -> Training:
    torch.manual_seed(0)
    config = LanguageModelConfig(300, d_model=8, n_heads=2, d_ff=12, n_layers=1, max_length=16, dropout=0.0)
    return Training(LanguageModel(config), IDS, batch=3, length=10)


def take(run: Training, n: int) -> list[float]:
    return [run.step(1000) for _ in range(n)]


def test_stopped_run_resumes_exactly(tmp_path):
    run, later = new_training(), new_training()
    take(run, 2)
    run.save(tmp_path / "run.pt")
    later.resume(tmp_path / "run.pt")
    assert later.losses == run.losses
    assert take(later, 2) == take(run, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["run.pt"]


def test_interrupted_run_takes_same_number_of_steps(tmp_path, monkeypatch):
    monkeypatch.setattr("authoring.language_model_training.STEPS_PER_REPORT", 2)
    whole, first, second = new_training(), new_training(), new_training()
    whole.run(6, tmp_path / "whole" / "run.pt")
    monkeypatch.setattr(first, "step", lambda n_steps: (Training.step(first, n_steps), stop_at(first, 5)))
    with pytest.raises(KeyboardInterrupt):
        first.run(6, tmp_path / "stopped" / "run.pt")
    second.run(6, tmp_path / "stopped" / "run.pt")
    assert second.losses == whole.losses
    assert len(whole.losses) == 6


def stop_at(run: Training, n: int) -> None:
    if len(run.losses) == n:
        raise KeyboardInterrupt


def test_each_text_starts_with_bos():
    ids = encoded(["a", "b c"], bpe_tokenizer([], 260)).tolist()
    assert [i for i, token in enumerate(ids) if token == BOS_ID] == [0, 2]


def test_batches_are_random_excerpts_from_text():
    run = new_training()
    text = "".join(map(chr, IDS.tolist()))
    batches = [run.draw() for _ in range(20)]
    assert {batch.shape for batch in batches} == {(3, 11)}
    assert all("".join(map(chr, row)) in text for batch in batches for row in batch.tolist())
    assert len({row[0] for batch in batches for row in batch.tolist()}) > 20


def test_learning_rate_warms_up_stays_constant_and_decays():
    factors = [rate_factor(step, 1000) for step in range(1000)]
    assert factors[N_WARMUP_STEPS // 2 - 1] == pytest.approx(0.5)
    assert set(factors[N_WARMUP_STEPS : int(1000 * (1 - COOLDOWN_FRACTION))]) == {1.0}
    assert all(later < earlier for earlier, later in pairwise(factors[1001 - int(1000 * COOLDOWN_FRACTION) :]))
    assert factors[-1] < 0.01


def test_mean_loss_matches_plain_loop():
    model, n = new_training().model, 16
    ids = IDS[: 2 * n + 5]
    with torch.no_grad():
        losses = [
            -model(window[None])[0, t].log_softmax(dim=-1)[window[t + 1]].item()
            for window in (ids[:n], ids[n : 2 * n])
            for t in range(0, n - 1)
        ]
    assert mean_loss(model, ids, n) == pytest.approx(sum(losses) / len(losses), rel=1e-4)


def test_card_describes_run_and_data():
    run, tokenizer = new_training(), bpe_tokenizer([], 260)
    run.losses, run.seconds = [float(i) for i in range(250)], 90.0
    fields = card(run, ["é"], ["a rose is a rose is"], tokenizer, data="a small one")
    assert fields["mean_losses"] == {"100": 49.5, "200": 149.5, "250": 224.5}
    assert fields["first_losses"] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert (fields["data"], fields["training_bytes"], fields["cpu_minutes"]) == ("a small one", 2, 1.5)
    assert (fields["steps"], fields["tokens_per_step"]) == (250, 30)

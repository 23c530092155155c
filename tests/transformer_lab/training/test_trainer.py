"""Tests that each step of the training loop is correct, and that an interrupted run resumes exactly."""

import io
import re
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pandas as pd
import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.transformer_lab.training.small_task import (
    SHAPE,
    STEPS,
    VOCAB_SIZE,
    batches,
    config,
    model,
    text_batches,
    text_model,
    text_trainer,
    trainer,
)
from transformer_lab.data.batches import pad
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, PAD_ID
from transformer_lab.generation.decode import greedy_decode
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig, SlidingWindow
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.tensor_files import PARAMETERS_FILE, read_tensors, write_tensors
from transformer_lab.training.checkpoint import CHECKPOINT_FILE
from transformer_lab.training.log import LOG_FILE
from transformer_lab.training.trainer import Trainer
from transformer_lab.training.validation import ValidationResult


def losses(folder):
    return pd.read_csv(folder / LOG_FILE)["loss"].tolist()


def parameters(folder):
    return read_tensors(folder / PARAMETERS_FILE)[0]


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert trainer(folder).run()
    return folder


# Steps


def rows(tensor):
    return [row[row != PAD_ID].numpy() for row in tensor]


def test_step_uses_the_mean_loss_of_the_batch(tmp_path):
    """The input is the target without its last token, and the labels are the target without its first token."""
    run = trainer(tmp_path, dropout=0.0, clip=1e9)
    batch = next(batches().from_step(0))
    source, target = batch.source, batch.target
    ends = [len(row) - 1 for row in rows(target)]
    inputs = pad([row[:-1] for row in rows(target)], PAD_ID)
    labels = pad([row[1:] for row in rows(target)], PAD_ID)
    assert all(inputs[:, 0] == BOS_ID) and all(row[end - 1] == EOS_ID for row, end in zip(labels, ends, strict=True))
    reference = model(dropout=0.0)
    log_p = F.log_softmax(reference(source, inputs), dim=-1)
    smoothed = 0.9 * F.one_hot(labels, log_p.shape[-1]) + 0.1 / log_p.shape[-1]
    real = torch.arange(labels.shape[1]) < torch.tensor(ends)[:, None]
    loss = -(smoothed * log_p).sum(-1)[real].mean()
    loss.backward()
    run.run(max_steps=1)
    assert losses(tmp_path) == [pytest.approx(loss.item(), abs=1e-5)]
    for (name, ours), theirs in zip(run.model.named_parameters(), reference.parameters(), strict=True):
        assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5, msg=name)


def test_text_step_predicts_each_token_from_earlier_tokens(tmp_path):
    run = text_trainer(tmp_path, dropout=0.0, label_smoothing=0.0, clip=1e9)
    windows = [row[row >= 0] for row in next(text_batches().from_step(0)).tokens]
    reference = text_model(dropout=0.0)
    log_p = [F.log_softmax(reference(window[None, :-1])[0], dim=-1) for window in windows]
    label_log_p = [p[range(len(window) - 1), window[1:]] for p, window in zip(log_p, windows, strict=True)]
    loss = -torch.cat(label_log_p).mean()
    loss.backward()
    run.run(max_steps=1)
    assert losses(tmp_path) == [pytest.approx(loss.item(), abs=1e-5)]
    for (name, ours), theirs in zip(run.model.named_parameters(), reference.parameters(), strict=True):
        assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5, msg=name)


def test_run_uses_batches_in_order(tmp_path):
    run = trainer(tmp_path, steps=7)
    model_inputs = []
    run.model.register_forward_pre_hook(lambda _, inputs: model_inputs.append(inputs))
    run.run()
    for (source, target), batch in zip(model_inputs, islice(batches().from_step(0), 7), strict=True):
        assert torch.equal(source, batch.source) and torch.equal(target, batch.target[:, :-1])


def test_gradient_is_clipped_and_rate_follows_schedule(tmp_path):
    run = trainer(tmp_path, clip=1e-3, steps=STEPS)
    for step in range(1, 4):
        run.run(max_steps=1)
        norm = torch.stack([p.grad.norm() for p in run.model.parameters()]).norm()
        assert norm == pytest.approx(1e-3, rel=1e-3)
        assert {group["lr"] for optimizer in run.optimizers for group in optimizer.param_groups} == {1e-2 * step / 5}


def test_restores_training_mode_after_validation(tmp_path):
    run = trainer(tmp_path)
    run.model.eval()
    run.run(max_steps=1)
    assert run.model.training


def test_logged_loss_averages_tokens_since_the_last_row(tmp_path, uninterrupted):
    trainer(tmp_path, log_every=6).run()
    every = pd.read_csv(uninterrupted / LOG_FILE)
    tokens = [int((batch.target[:, 1:] != PAD_ID).sum()) for batch in islice(batches().from_step(0), STEPS)]
    for row, mean in enumerate(losses(tmp_path)):
        part = slice(6 * row, 6 * row + 6)
        expected = sum(every["loss"][part] * tokens[part]) / sum(tokens[part])
        assert mean == pytest.approx(expected)


def test_model_learns_to_generate(tmp_path):
    """Generate texts, because a model that sees its labels or copies its inputs also reaches a low loss."""
    run = trainer(tmp_path, dropout=0.0, steps=250, label_smoothing=0.0, log_every=250)
    run.run()
    batch = next(batches().from_step(0))
    generated = greedy_decode(run.model.eval(), batch.source, BOS_ID, EOS_ID, 12)
    expected = F.pad(batch.target[:, 1:], (0, generated.shape[1] - batch.target.shape[1] + 1))
    accuracy = ((generated == expected) | (expected == PAD_ID)).all(dim=1).float().mean()
    assert accuracy > 0.8


# Stopping and resuming


def test_seed_determines_the_run(tmp_path, uninterrupted):
    trainer(tmp_path / "same").run()
    trainer(tmp_path / "other", seed=1).run()
    assert losses(tmp_path / "same") == losses(uninterrupted)
    assert same(parameters(tmp_path / "same"), parameters(uninterrupted))
    assert losses(tmp_path / "other") != losses(uninterrupted)  # dropout depends on the seed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_resumes_exactly_after_ctrl_c(tmp_path, uninterrupted, number):
    run = trainer(tmp_path)

    def interrupt(*_):
        if run.progress.step == 12:
            signal.raise_signal(number)  # sent during step 13, which still completes

    run.model.decoder.norm.register_forward_hook(interrupt)
    assert not run.run()
    assert len(losses(tmp_path)) == run.progress.step == 13
    assert same(parameters(tmp_path), dict(run.model.state_dict()))
    assert trainer(tmp_path).run()
    assert losses(tmp_path) == losses(uninterrupted)
    assert same(parameters(tmp_path), parameters(uninterrupted))


@pytest.mark.parametrize("max_steps, expected", [(0, 0), (7, 7), (STEPS, STEPS), (STEPS + 1, STEPS), (None, STEPS)])
def test_run_takes_the_requested_or_remaining_steps(tmp_path, max_steps, expected):
    run = trainer(tmp_path)
    assert run.run(max_steps) == run.is_finished == (expected == STEPS)
    assert run.progress.step == len(losses(tmp_path)) == expected
    assert trainer(tmp_path).progress == run.progress  # the run saved a checkpoint


def test_does_not_keep_interrupted_parameters_as_best(tmp_path):
    for stop_at in (3, 6):
        run = trainer(tmp_path)
        assert not run.run(max_steps=3)
        assert run.progress.step == stop_at
        assert same(parameters(tmp_path), dict(run.model.state_dict()))


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork and SIGKILL")
@pytest.mark.parametrize("task", ["pairs", pytest.param("text", marks=pytest.mark.thorough)])
def test_repeatedly_killed_run_resumes_exactly(tmp_path_factory, tmp_path, uninterrupted, task):
    if task == "text":
        uninterrupted = tmp_path_factory.mktemp("text")
        assert text_trainer(uninterrupted).run()
    kills = 10
    command = [sys.executable, "-m", "tests.transformer_lab.training.kill_and_resume", str(tmp_path), str(kills), task]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    exit_codes = [int(line) for line in done.stdout.split()]
    assert exit_codes[-1] == 0 and exit_codes.count(-signal.SIGKILL) >= 5, done.stdout + done.stderr
    assert losses(tmp_path) == losses(uninterrupted)
    assert same(parameters(tmp_path), parameters(uninterrupted))


def test_finished_run_does_not_change(tmp_path):
    trainer(tmp_path).run()
    before = losses(tmp_path)
    again = trainer(tmp_path)
    assert again.run()
    assert again.progress.step == STEPS and losses(tmp_path) == before


def test_rejects_resuming_with_different_settings(tmp_path):
    trainer(tmp_path).run()
    with pytest.raises(ValueError, match=rf"{CHECKPOINT_FILE} has different settings: lr=0\.01, not 0\.02$"):
        trainer(tmp_path, lr=2e-2)
    with pytest.raises(ValueError, match=r"different settings: dropout=0\.1, not 0\.0$"):
        trainer(tmp_path, dropout=0.0)
    with pytest.raises(ValueError, match=r"by a different version, whose settings average, peak_rate no longer exist"):
        trainer(tmp_path)._check_settings({"training": {"peak_rate": 0.01, "average": 0.9}})


def test_resumes_a_model_with_local_attention(tmp_path):
    shape = {"d_model": 16, "n_heads": 2, "d_ff": 24, "max_length": 10}

    def run(pattern):
        window = SlidingWindow(3, pattern, rotary_base=1e3)
        model = LanguageModel(LanguageModelConfig.llama(VOCAB_SIZE, n_layers=2, window=window, **shape))
        return Trainer(model, text_batches(), config(steps=9), tmp_path)

    run((True, False)).run(max_steps=2)
    assert run((True, False)).run()
    with pytest.raises(ValueError, match=r"different settings: window=.*\[True, False\].*, not .*\[True, True\]"):
        run((True, True))


def test_resumes_a_run_from_before_the_optimizer_setting(tmp_path):
    trainer(tmp_path).run(max_steps=3)
    tensors, info = read_tensors(tmp_path / CHECKPOINT_FILE)
    del info["training"]["optimizer"]
    write_tensors(tmp_path / CHECKPOINT_FILE, tensors, info)
    with pytest.raises(ValueError, match=r"different settings: optimizer='adamw', not 'muon'$"):
        trainer(tmp_path, optimizer="muon")
    assert trainer(tmp_path).progress.step == 3


def test_resumes_a_muon_run_exactly(tmp_path):
    trainer(tmp_path / "at once", optimizer="muon").run()
    for stop in (1, 9, STEPS):  # the second and third runs resume from a checkpoint
        run = trainer(tmp_path / "in three", optimizer="muon")
        run.run(max_steps=stop - run.progress.step)
    assert same(parameters(tmp_path / "in three"), parameters(tmp_path / "at once"))
    trainer(tmp_path / "adamw").run()
    assert not same(parameters(tmp_path / "adamw"), parameters(tmp_path / "at once"))


def test_muon_run_trains_every_parameter_at_scheduled_rate(tmp_path):
    run = trainer(tmp_path, optimizer="muon")
    run.run(max_steps=2)
    muon, adamw = run.optimizers
    groups = [*muon.param_groups, *adamw.param_groups]
    assert sorted(id(p) for group in groups for p in group["params"]) == sorted(map(id, run.model.parameters()))
    assert all(p.dim() == 2 for group in muon.param_groups for p in group["params"])
    assert {group["lr"] for group in groups} == {1e-2 * 2 / 5}


def test_compares_settings_before_tensors(tmp_path):
    trainer(tmp_path).run()
    wider = Transformer(TransformerConfig(**vars(SHAPE) | {"d_model": 18}))
    with pytest.raises(ValueError, match=r"different settings: d_model=16, not 18$"):
        Trainer(wider, batches(), config(), tmp_path)


def test_finished_run_continues_with_more_steps(tmp_path, uninterrupted):
    constant = {"schedule": "noam", "lr": 0.1}
    trainer(tmp_path / "at once", steps=STEPS + 7, **constant).run()
    trainer(tmp_path / "in two", **constant).run()
    again = trainer(tmp_path / "in two", steps=STEPS + 7, log_every=2, save_every=3, **constant)
    assert again.run() and again.progress.step == STEPS + 7
    assert same(parameters(tmp_path / "in two"), parameters(tmp_path / "at once"))
    with pytest.raises(ValueError, match=f"different settings: steps={STEPS + 7}, not {STEPS}$"):
        trainer(tmp_path / "in two", **constant)


def test_rejects_resuming_with_different_held_out_data(tmp_path):
    Trainer(model(), batches(), config(), tmp_path, held_out={"val.tsv": "1f"}).run()
    for other in ({"val.tsv": "2e"}, {"test.tsv": "1f"}, None):
        with pytest.raises(ValueError, match=r"different settings: val\.tsv='1f', not "):
            Trainer(model(), batches(), config(), tmp_path, held_out=other)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"{")], ids=["missing", "corrupted"])
def test_replaces_lost_best_parameters_with_last_parameters(tmp_path, damage):
    trainer(tmp_path, scoring([9.5, 8.5]), validate_every=STEPS // 2).run()
    last = trainer(tmp_path, scoring([]), validate_every=STEPS // 2).model.state_dict()
    damage(tmp_path / PARAMETERS_FILE)
    with pytest.warns(UserWarning, match=f"{PARAMETERS_FILE} with the best parameters is missing or corrupted"):
        trainer(tmp_path, scoring([]), validate_every=STEPS // 2).run()
    assert same(parameters(tmp_path), last)


def test_timing_a_step_has_no_side_effects(tmp_path, uninterrupted):
    run = trainer(tmp_path)
    assert 0 < run.seconds_per_step() < 60
    run.run()
    assert losses(tmp_path) == losses(uninterrupted)


def test_rejects_corrupted_checkpoint(tmp_path):
    trainer(tmp_path).run()
    (tmp_path / CHECKPOINT_FILE).write_bytes((tmp_path / CHECKPOINT_FILE).read_bytes()[:999])
    with pytest.raises(ValueError, match="is not a checkpoint of this library"):
        trainer(tmp_path)


def test_diverging_run_stops_and_keeps_the_last_checkpoint(tmp_path):
    settings = {"lr": 1e30, "warmup": 2, "save_every": 1, "log_every": 50}
    message = r"^at step (\d+), the loss is \S+ and its gradient norm is nan; try a lower .* lr=1e\+30$"
    with pytest.raises(ValueError, match=message) as raised:
        trainer(tmp_path, **settings).run()
    assert all(tensor.isfinite().all() for tensor in parameters(tmp_path).values())
    assert trainer(tmp_path, **settings).progress.step == int(re.match(message, str(raised.value))[1]) - 1 > 0


def test_nan_gradient_stops_the_run_before_the_update(tmp_path):
    run = trainer(tmp_path)
    next(run.model.parameters()).register_hook(lambda gradient: gradient / 0)
    with pytest.raises(ValueError, match=r"^at step 1, the loss is \d\S+ and its gradient norm is (nan|inf);"):
        run.run()
    assert same(run.model.state_dict(), model().state_dict())


# Validation


def scoring(scores):
    """Return a validation function that returns the given scores in order."""
    scores = iter(scores)
    return lambda: ValidationResult(1.5, next(scores))


def test_validates_at_the_interval_and_logs_it(tmp_path):
    trainer(tmp_path, scoring([10.0, 20.0, 15.0]), validate_every=10, steps=25).run()
    table = pd.read_csv(tmp_path / LOG_FILE).dropna()
    assert table["step"].tolist() == [10, 20, 25]
    assert table["validation_score"].tolist() == [10, 20, 15]
    assert table["validation_loss"].tolist() == [1.5] * 3


def test_saves_the_best_parameters_instead_of_the_last(tmp_path):
    trainer(tmp_path, scoring([10.0, 30.0, 20.0]), validate_every=10, steps=25).run()
    assert read_tensors(tmp_path / PARAMETERS_FILE)[1] == {"step": 20}


def test_finite_score_replaces_a_nan_score(tmp_path):
    trainer(tmp_path, scoring([float("nan")]), validate_every=10, steps=20).run(max_steps=10)
    run = trainer(tmp_path, scoring([10.0]), validate_every=10, steps=20)
    assert run.run()
    assert read_tensors(tmp_path / PARAMETERS_FILE)[1] == {"step": 20}


# EMA


def test_validates_and_saves_the_ema_without_changing_training(tmp_path, uninterrupted):
    observed = []

    def validate():
        observed.append({name: tensor.clone() for name, tensor in run.model.state_dict().items()})
        return ValidationResult(1.5, float(len(observed)))

    run = trainer(tmp_path, validate, ema=0.8, validate_every=10)
    run.run()
    assert losses(tmp_path) == losses(uninterrupted)
    assert same(observed[-1], parameters(tmp_path)) and len(observed) == 3
    assert not same(parameters(tmp_path), parameters(uninterrupted))
    assert same(dict(run.model.state_dict()), parameters(uninterrupted))


def test_ema_is_saved_and_resumed(tmp_path):
    trainer(tmp_path / "whole", ema=0.8).run()
    run = trainer(tmp_path / "stopped", ema=0.8)
    assert not run.run(max_steps=9)
    assert trainer(tmp_path / "stopped", ema=0.8).run()
    assert same(parameters(tmp_path / "stopped"), parameters(tmp_path / "whole"))
    with pytest.raises(ValueError, match=r"different settings: ema=0\.8, not 0\.0"):
        trainer(tmp_path / "stopped")


# Progress bar and autocast


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_bar_shows_loss_speed_and_time_left(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    trainer(tmp_path, scoring([9.5]), log_every=5).run()
    displayed = sys.stderr.getvalue()
    for part in (
        r"loss=\d",
        r"tokens_per_second=\d",
        r"validation_score=9\.5",
        rf"{STEPS}/{STEPS}",
        r"\d\d:\d\d<\d\d:\d\d",
    ):
        assert re.search(part, displayed), part


def test_no_progress_bar_without_a_terminal(tmp_path, capfd):
    trainer(tmp_path).run()
    assert capfd.readouterr() == ("", "")


@pytest.fixture(scope="module")
def without_dropout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert trainer(folder, dropout=0.0).run()
    return folder


def test_autocast_computes_in_bfloat16_with_float32_parameters(tmp_path, without_dropout):
    run = trainer(tmp_path, dropout=0.0, autocast=True)
    run.run()
    assert losses(tmp_path) != losses(without_dropout)
    assert losses(tmp_path) == pytest.approx(losses(without_dropout), rel=0.02)
    assert {p.dtype for p in run.model.parameters()} == {torch.float32}

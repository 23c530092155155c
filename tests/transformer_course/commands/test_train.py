"""Tests that the options of ``transformer-course train`` reach the training run."""

import os
import re
import signal
import socket
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest

from tests.transformer_course.commands.conftest import SHORT_RUN_OPTIONS, SMALL_MODEL_OPTIONS, as_options
from transformer_course.commands import evaluate
from transformer_course.commands.main import main
from transformer_course.commands.train import SHAPE, TRAINING
from transformer_lab.tensor_files import read_tensors
from transformer_lab.text.text_generator import TextGenerator
from transformer_lab.text.translator import Translator
from transformer_lab.training import recipes, trainer
from transformer_lab.training.checkpoint import CHECKPOINT_FILE
from transformer_lab.training.config import TrainingConfig
from transformer_lab.training.folder_lock import folder_lock
from transformer_lab.training.log import LOG_FILE


@pytest.fixture(autouse=True)
def working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def settings(folder):
    return read_tensors(folder / CHECKPOINT_FILE)[1]


def help_text(capsys) -> str:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    return " ".join(capsys.readouterr().out.split())


def test_help_shows_the_recipe_defaults(capsys):
    displayed = help_text(capsys)
    for meanings, configs in (
        (TRAINING, (recipes.DATES, recipes.CORPUS, recipes.TEXT)),
        (SHAPE, (recipes.DATES_MODEL, recipes.CORPUS_MODEL, recipes.TEXT_MODEL)),
    ):
        for name, meaning in meanings.items():
            dates, corpus, text = (f"{getattr(config, name):g}" for config in configs)
            if name == "vocab_size":
                dates = "number of characters"
            per_task = f"{dates} for dates, {corpus} for a corpus, {text} for text"
            default = text if dates == corpus == text else per_task
            assert f"--{name.replace('_', '-')} N {meaning} (default: {default})" in displayed


def test_every_setting_has_an_option(capsys):
    displayed = help_text(capsys)
    for name in [field.name for field in fields(TrainingConfig)] + list(SHAPE):
        assert f"--{name.replace('_', '-')} " in displayed.replace("]", " "), name


def test_trains_on_a_corpus_with_the_given_settings(corpus, model, tmp_path):
    info = settings(model)
    assert {name: info["training"][name] for name in ("steps", "warmup", "batch_tokens", "save_every")} == {
        "steps": 6, "warmup": 2, "batch_tokens": 300, "save_every": 3,
    }  # fmt: skip
    assert info["training"]["lr"] == recipes.CORPUS.lr  # --lr was not given
    assert (info["model"]["d_model"], info["model"]["n_layers"], info["model"]["max_length"]) == (16, 1, 20)
    assert pd.read_csv(model / LOG_FILE)["step"].tolist() == [2, 4, 6]
    Translator.load(model)


def test_every_kind_of_option_reaches_the_trainer(corpus, tmp_path):
    options = as_options(schedule="noam", seed=7, lr=0.5, label_smoothing=0, dropout=0.2, validate_every=3)
    assert (
        main(
            [
                "train",
                *corpus,
                "-o",
                "m",
                *SMALL_MODEL_OPTIONS,
                *SHORT_RUN_OPTIONS,
                *options,
                "--autocast",
                "--validation",
                *corpus,
            ]
        )
        == 0
    )
    info = settings(tmp_path / "m")
    expected = {"schedule": "noam", "autocast": True, "seed": 7, "lr": 0.5, "label_smoothing": 0.0}
    assert expected.items() <= info["training"].items()
    assert info["model"]["dropout"] == 0.2


def test_names_default_folder_after_corpus(corpus, tmp_path, capsys):
    assert main(["train", *corpus, "--validation", *corpus, *SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS]) == 0
    output = capsys.readouterr().out
    assert output.startswith("6 steps in ") and "; best validation score 0." in output
    assert output.endswith("the model is in model-x\n")
    Translator.load(tmp_path / "model-x")


def test_dates_corpus_requires_no_further_arguments(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recipes, "N_TRAINING_DATES", 300)
    monkeypatch.setattr(recipes, "N_HELD_OUT_DATES", 20)
    monkeypatch.setattr(evaluate, "N_TEST_DATES", 30)
    options = as_options(steps=4, warmup=1, d_model=16, d_ff=16, n_layers=1, n_heads=2, device="cpu")
    assert main(["train", "dates", *options]) == 0
    assert "the model is in model-dates" in capsys.readouterr().out
    assert main(["translate", "3 mars 2021"]) == 0
    assert capsys.readouterr().out.count("\n") == 1
    assert main(["evaluate", "dates", "--seed", "3"]) == 0
    assert capsys.readouterr().out.startswith("pairs        30\n")


def test_text_model_can_generate_and_be_evaluated(story, language_model, capsys):
    info = settings(language_model)
    assert (info["training"]["steps"], info["model"]["d_model"], info["model"]["max_length"]) == (6, 16, 20)
    assert info["training"]["lr"] == recipes.TEXT.lr and info["model"]["norm"] == "rms"
    assert main(["generate", "-m", str(language_model), "eins", "--temperature", "0", "--max-new-tokens", "3"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "--text", str(language_model / "data" / "held_out.txt"), "-m", str(language_model)]) == 0
    output = capsys.readouterr().out
    best = -pd.read_csv(language_model / LOG_FILE)["validation_score"].max()
    assert output.startswith("documents       1\n") and output.endswith(f"bits per byte   {best:.3f}\n")


def test_text_run_reports_bits_per_byte(story, tmp_path, capsys):
    assert (
        main(["train", str(story), "--text", "--validation", str(story), *SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS]) == 0
    )
    best = -pd.read_csv(tmp_path / "model-story" / LOG_FILE)["validation_score"].max()
    assert capsys.readouterr().out.endswith(
        f"; best validation {best:.3f} bits per byte; the model is in model-story\n"
    )


def interrupt_the_third_step(patch):
    batch_loss, calls = trainer.batch_loss, []

    def interrupting(*args, **keywords):
        calls.append(args)
        if len(calls) == 2 + 3:  # the first two calls measure how long a step takes
            signal.raise_signal(signal.SIGINT)
        return batch_loss(*args, **keywords)

    patch.setattr(trainer, "batch_loss", interrupting)


@pytest.mark.parametrize("kind", ["corpus", "text"])
def test_stopped_run_continues_with_the_same_command(
    kind, corpus, model, story, language_model, tmp_path, capsys, monkeypatch
):
    data, uninterrupted, load = (
        (corpus, model, Translator.load)
        if kind == "corpus"
        else (["--text", str(story)], language_model, TextGenerator.load)
    )
    command = ["train", *data, "-o", "m", *SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS]
    with monkeypatch.context() as patch:
        interrupt_the_third_step(patch)
        assert main(command) == 130
    output = capsys.readouterr().out
    assert output.startswith("3 steps")
    assert output.endswith("stopped before the end: run the same command to continue\n")
    load(tmp_path / "m")
    assert main(command) == 0
    resumed_losses, losses = (pd.read_csv(run / LOG_FILE)["loss"].tolist() for run in (tmp_path / "m", uninterrupted))
    assert resumed_losses == losses


def test_reports_bad_lines(tmp_path, capsys):
    (tmp_path / "bad.tsv").write_text("eins\tEINS\nzwei\n", "utf-8")
    assert main(["train", "bad.tsv", "-o", "m", *SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS]) == 0
    message = "skipped 1 × no tab, so no translation\n  bad.tsv, line 2: no tab, so no translation\n1 pair of "
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nowhere.tsv"], "No such file or directory: 'nowhere.tsv'"),
        (["x.tsv"] * 3, "got 3 files"),
        (["dates", "--steps", "50", "--warmup", "50"], "warmup=50, steps=50"),
        (["dates", "--warmup", "0"], "warmup must be positive; got warmup=0"),
        (["dates", "--d-model", "30"], "n_heads=4"),
        (["dates", "--device", "gpu"], "device 'gpu' is not available"),
        (["dates", "--seed", "99999999999999999999"], "seed must be less than 2 ** 63; got seed=99999999999999999999"),
        (["nowhere.tsv", "--n-heads", "3"], "n_heads must divide d_model; got d_model="),
        (["nowhere.txt", "--text", "--n-heads", "3"], "got d_model=256, n_heads=3"),
        (["dates", "--threads", "0"], "got --threads 0"),
        (["dates", "--validation", "x"], 'the corpus "dates" has its own validation set'),
        (["dates", "--vocab-size", "300"], "validation set and vocabulary"),
        (["dates", "--text"], "No such file or directory: 'dates'"),
        (["x.tsv", "--text", "--batch-tokens", "1"], "more than a batch of n_tokens=1 can hold"),
    ],
)
def test_reports_errors_on_one_line(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr(recipes, "N_TRAINING_DATES", 30)
    Path("x.tsv").write_text("eins\tEINS\n")
    assert main(["train", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("transformer-course: ") and message in error and error.count("\n") == 1


def test_first_line_shows_data_and_estimated_time(corpus, story, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(recipes, "N_TRAINING_DATES", 30)
    monkeypatch.setattr(recipes, "N_HELD_OUT_DATES", 5)
    counts = r"[\d,]+ tokens; vocabulary of \d+ tokens; [\d,]+ parameters; [\d,]+ steps? per epoch; "
    counts += r"[\d,]+ steps in about a minute\n"
    for arguments, items in (([*corpus], "pairs"), (["--text", str(story)], "windows"), (["dates"], "30 pairs")):
        small = (
            [*SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS]
            if items != "30 pairs"
            else [*SHORT_RUN_OPTIONS, "--d-model", "16", "--n-heads", "2", "--d-ff", "8"]
        )
        assert main(["train", *arguments, "-o", items, *small]) == 0
        assert re.search(rf"{items} of {counts}", capsys.readouterr().err)


def test_continued_run_keeps_its_short_warmup(corpus, tmp_path, capsys):
    command = ["train", *corpus, "-o", "m", *SMALL_MODEL_OPTIONS, *as_options(batch_tokens=300, device="cpu")]
    assert main([*command, "--steps", "30"]) == 0
    assert settings(tmp_path / "m")["training"]["warmup"] == 3
    assert "continues" not in capsys.readouterr().err
    assert main([*command, "--steps", "50"]) == 0
    assert settings(tmp_path / "m")["training"]["warmup"] == 3
    rate = TrainingConfig(steps=50, batch_tokens=300, lr=recipes.CORPUS.lr, warmup=3).lr_at(31, 16)
    assert f"continues after step 30 with learning rate {rate:.2g}" in capsys.readouterr().err


def test_reports_vocabulary_smaller_than_requested(corpus, capsys):
    options = [*SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS]
    assert main(["train", *corpus, "-o", "m", *options, "--vocab-size", "60000"]) == 0
    message = r"the vocabulary has only \d\d\d? tokens, fewer than --vocab-size 60000\n"
    assert re.search(message, capsys.readouterr().err)


def test_rejects_a_second_run_in_the_same_folder(corpus, tmp_path, capsys):
    with folder_lock(tmp_path / "m"):
        assert main(["train", *corpus, "-o", "m", *SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS]) == 2
    user = f"process {os.getpid()} on {socket.gethostname()}"
    assert capsys.readouterr().err == f"transformer-course: m is in use by {user}\n"


def test_rejects_changed_validation_data(corpus, tmp_path, capsys):
    command = ["train", *corpus, "-o", "m", *SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS, "--validation", "val.tsv"]
    Path("val.tsv").write_text("eins\tEINS\n", "utf-8")
    assert main(command) == 0
    Path("val.tsv").write_text("eins\tEINE\n", "utf-8")
    assert main(command) == 2
    assert "has different settings: val.tsv='" in capsys.readouterr().err

"""Tests that the card from ``transformer-course push`` contains the logged results of the published parameters."""

import csv

import pytest

from tests.transformer_lab.pretrained.language_model_folders import publish
from transformer_course.commands import publish as publishing
from transformer_course.commands.main import main
from transformer_lab.data.tokenizers import character_tokenizer
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.tensor_files import PARAMETERS_FILE, write_tensors
from transformer_lab.text.marian_translator import load_translator
from transformer_lab.text.translator import Translator
from transformer_lab.training.log import COLUMNS


@pytest.fixture
def trained(tmp_path):
    """A trained model's folder. The parameters are from step 20, and the log continues to step 30."""
    tokenizer = character_tokenizer(["3 mars 2021"])
    config = TransformerConfig(tokenizer.get_vocab_size(), d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20)
    translator = Translator(Transformer(config).eval(), tokenizer)
    folder = tmp_path / "model-dates"
    translator.save_description(folder)
    write_tensors(folder / PARAMETERS_FILE, translator.model.state_dict(), {"step": 20})
    rows = [(10, 1.5, 2.5, 1e-3, 100, "", ""), (20, 3.0, 1.25, 1e-3, 100, 1.125, 87.5), (30, 4, 1, 1e-3, 100, 1.5, 80)]
    with (folder / "log.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return folder


def test_card_contains_results_for_the_published_parameters(trained, tmp_path, capsys):
    out = tmp_path / "card"
    assert main(["push", "-m", str(trained), "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"The model and its card are in {out}\n"
    card = (out / "README.md").read_text(encoding="utf-8")
    for row in (
        "training steps | 20",
        "training loss, nats per token | 1.250",
        "validation loss, nats per token | 1.125",
    ):
        assert f"| {row} |" in card
    assert "BLEU for a corpus) | 87.50 |" in card
    assert sorted(path.name for path in out.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert list(load_translator(out).translate(["3"])) == list(load_translator(trained).translate(["3"]))


def test_rejects_overwriting_the_training_folder(trained, capsys):
    before = {path.name: path.read_bytes() for path in trained.iterdir()}
    assert main(["push", "-m", str(trained), "-o", str(trained)]) == 2
    assert capsys.readouterr().err.endswith(
        "is the training folder, whose files are needed to continue training; choose a different --out\n"
    )
    assert {path.name: path.read_bytes() for path in trained.iterdir()} == before


def test_card_omits_results_without_a_known_step(trained, tmp_path):
    translator = Translator.load(trained)
    write_tensors(trained / PARAMETERS_FILE, translator.model.state_dict(), {})
    assert main(["push", "-m", str(trained), "-o", str(tmp_path / "card")]) == 0
    assert "training steps" not in (tmp_path / "card" / "README.md").read_text(encoding="utf-8")


def test_pushes_a_model_without_a_log(tmp_path, monkeypatch, capsys):
    publish(tmp_path, n_positions=64)
    pushed = []
    monkeypatch.setattr(publishing, "push_folder", lambda folder, name: pushed.append(name) or "https://hub")
    assert main(["push", "-m", str(tmp_path), "ada/stories"]) == 0
    assert pushed == ["ada/stories"]
    assert capsys.readouterr().out == "The model and its card are in https://hub\n"


def test_reports_missing_model_on_one_line(tmp_path, capsys):
    assert main(["push", "-m", str(tmp_path), "ada/x"]) == 2
    assert capsys.readouterr().err == f"transformer-course: {tmp_path} has no config.json\n"

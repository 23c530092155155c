"""Fixtures for tests of the home page."""

import pytest

from tests.transformer_course.home.sample_folders import OUTLINES, Folder
from transformer_course.home import home_page


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


@pytest.fixture
def small_map(monkeypatch):
    """Replace the map of the lessons with a map of the sample lessons only."""
    groups = "".join(f'<a class="tl-lesson" data-lesson="{outline.name}"></a>' for outline in OUTLINES)
    monkeypatch.setattr(home_page, "stored_map", lambda: f"<svg>{groups}</svg>")

"""A learner's folder."""

import pytest

from tests.transformer_course.home.sample_folders import Folder


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)

"""A learner's folder."""

import pytest

from tests.course.home.sample_folders import Folder


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)

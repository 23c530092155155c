"""A fixture that reads the stored lessons once for all tests."""

import pytest
from nbformat import NotebookNode

from docs.site import pages


@pytest.fixture(scope="session")
def books() -> dict[str, NotebookNode]:
    return pages.stored_lessons()

"""A fixture that shares one JupyterLab among all tests for views."""

import sys
from collections.abc import Iterator

import pytest

from tests.end_to_end.browser import find_browser, running_lab
from tests.end_to_end.open_view import Lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab in an empty folder, started once for all tests."""
    browser = find_browser()
    if browser is None:
        pytest.skip("Chromium is not installed, so views cannot be tested")
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("settings")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--allow-root"]
    with running_lab([*command, f"--ServerApp.root_dir={folder}"], folder, home) as address:
        yield Lab(address, folder, browser)

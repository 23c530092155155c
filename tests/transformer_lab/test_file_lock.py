import sys
from pathlib import Path

import pytest

from transformer_lab.file_lock import try_lock


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_one_at_a_time_has_the_lock_and_closing_releases_it(tmp_path: Path):
    with (tmp_path / "lock").open("wb") as first:
        assert try_lock(first) is True
        with (tmp_path / "lock").open("rb") as second:
            assert try_lock(second) is False
    with (tmp_path / "lock").open("rb") as third:
        assert try_lock(third) is True


def test_where_files_cannot_be_locked_nobody_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with (tmp_path / "lock").open("wb") as file:
        assert try_lock(file) is None

from pathlib import Path
from typing import Any

import pytest

from transformer_course.grading.rules.settings import (
    RunOptions,
    check_output_folder,
    new_settings,
    recorded_settings,
    write_settings,
)
from transformer_course.sandbox.resource_limits import Limits


def test_recorded_settings_match_the_options(tmp_path: Path):
    settings = new_settings(7, Limits(seconds=3.0), {"landlock": 5})
    write_settings(tmp_path / "out", settings)
    tmp_path = tmp_path / "out"
    assert recorded_settings(tmp_path) == settings
    assert (settings["seed"], settings["limits"]["seconds"]) == (7, 3.0)
    for invalid in ({"kind": "another"}, {"platform": "\ud800"}):
        write_settings(tmp_path, {**settings, **invalid})
        assert recorded_settings(tmp_path) is None
    (tmp_path / "settings.json").write_text("[" * 100_000)
    assert recorded_settings(tmp_path) is None


def test_rejects_folder_with_unrelated_files(tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / "settings.json").write_text("[]")
    with pytest.raises(ValueError, match="contains files that are not results of an earlier run"):
        check_output_folder(tmp_path)
    with pytest.raises(ValueError, match="file is a file; choose a folder for the results"):
        check_output_folder(tmp_path / "file")


def test_accepts_new_empty_or_earlier_results_folder(tmp_path: Path):
    check_output_folder(tmp_path / "new")
    check_output_folder(tmp_path)
    write_settings(tmp_path, new_settings(7, Limits(seconds=3.0), {"landlock": 5}))
    (tmp_path / "results.json").write_text(
        '{"kind": "transf'
    )  # truncated by an interruption; the graded results are intact
    check_output_folder(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, r"seed must be between 0 and 2\*\*63 - 1; got seed=-1"),
        ({"jobs": 0}, "jobs must be between 1 and 256; got jobs=0"),
    ],
)
def test_rejects_out_of_range_options(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        RunOptions(**options)

"""Tests for reading the project's URL from the settings."""

from pathlib import Path

import pytest

from docs.site.repository import Repository, published


@pytest.mark.parametrize(
    ("urls", "environment", "repository"),
    [
        ("", {}, None),
        ("", {"GITHUB_REPOSITORY": "fork/course"}, Repository("fork/course")),
        ('Repository = "https://github.com/owner/course"', {"GITHUB_REPOSITORY": "a/b"}, Repository("owner/course")),
        ('Repository = "https://github.com/owner/course.git/"', {}, Repository("owner/course")),
    ],
)
def test_setting_takes_precedence_over_workflow(
    tmp_path: Path, urls: str, environment: dict[str, str], repository: Repository | None
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[project]\n[project.urls]\n{urls}\n")
    assert published(environment, tmp_path / "pyproject.toml") == repository


@pytest.mark.parametrize("address", ["https://gitlab.com/owner/course", "https://github.com/owner"])
def test_rejects_an_invalid_address(tmp_path: Path, address: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project.urls]\nRepository = "{address}"\n[project]\n')
    with pytest.raises(ValueError, match=f"github.com/owner/name; got {address}"):
        published({}, tmp_path / "pyproject.toml")

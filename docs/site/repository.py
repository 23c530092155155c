"""Determine the URL of the published project, for links to Colab, Binder and source files.

The URL is ``Repository`` under ``[project.urls]`` in ``pyproject.toml``. If this setting is missing, a GitHub workflow
uses the URL of the repository in which it runs. In all other builds, the site has no links to the repository.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BRANCH = "main"


@dataclass(frozen=True)
class Repository:
    """A repository on GitHub. Its ``name`` has the form ``owner/name``."""

    name: str

    @property
    def address(self) -> str:
        """The URL of the repository on GitHub."""
        return f"https://github.com/{self.name}"

    @property
    def site(self) -> str:
        """The URL of the web edition on GitHub Pages."""
        owner, _, name = self.name.lower().partition("/")
        return f"https://{owner}.github.io/" + ("" if name == f"{owner}.github.io" else f"{name}/")

    @property
    def image(self) -> str:
        """The URL of the container image."""
        return f"{self.address}/pkgs/container/{self.name.lower().partition('/')[2]}"

    def file(self, path: str) -> str:
        """Return the URL of a file or folder."""
        return f"{self.address}/blob/{BRANCH}/{path}"

    def colab(self, notebook: str) -> str:
        """Return the URL that opens a notebook in Colab."""
        return f"https://colab.research.google.com/github/{self.name}/blob/{BRANCH}/{notebook}"

    def binder(self, notebook: str = "") -> str:
        """Return the URL that opens a notebook, or the home page, in JupyterLab on Binder."""
        return f"https://mybinder.org/v2/gh/{self.name}/{BRANCH}?urlpath=lab" + (
            f"/tree/{notebook}" if notebook else ""
        )


def published(
    environment: Mapping[str, str] = os.environ, project: Path = ROOT / "pyproject.toml"
) -> Repository | None:
    """Return the project's repository, or None if its URL is not set.

    Raises:
        ValueError: The setting is not the URL of a repository on GitHub.
    """
    urls = tomllib.loads(project.read_text(encoding="utf-8"))["project"].get("urls", {})
    address = urls.get("Repository")
    if address is None:
        name = environment.get("GITHUB_REPOSITORY")
        return Repository(name) if name else None
    name = address.removeprefix("https://github.com/").removesuffix("/").removesuffix(".git")
    if name == address or name.count("/") != 1:
        raise ValueError(
            f"Repository in {project.name} must have the form https://github.com/owner/name; got {address}"
        )
    return Repository(name)

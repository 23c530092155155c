"""Run the sandbox's interpreter in a container of podman or docker: for systems that lack the guards of Linux.

The container has no network, no right of root's, nothing to write on and nothing of this machine but the sandbox's
folder, which holds no more than a copy of the library and the folders that jobs work in. All that the sandbox does
itself, it does in there as well.
"""

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transformer_course.sandbox.resource_limits import Limits

CONTAINER_TOOLS = ("podman", "docker")
IMAGE = "transformer-course-sandbox"
PACKAGES = (
    "beartype", "huggingface-hub", "ipython", "jaxtyping", "matplotlib", "numpy", "pandas", "pillow", "sacrebleu",
    "safetensors", "sentencepiece", "tokenizers", "torch", "tqdm",
)  # fmt: skip
"""What the sandboxed packages and the library import."""
OVERHEAD_PROCESSES, OVERHEAD_MB = 64, 2048
"""What Python, torch, the fork server and a supervisor take, on top of what a job may."""


@dataclass(frozen=True)
class Container:
    """How to start containers.

    Args:
        tool: One of ``CONTAINER_TOOLS``.
        image: The image to start; if there is none of this name, it is built.

    Raises:
        ValueError: The tool is unknown.
    """

    tool: str
    image: str = IMAGE

    def __post_init__(self) -> None:
        if self.tool not in CONTAINER_TOOLS:
            raise ValueError(f"the tool for containers must be one of {', '.join(CONTAINER_TOOLS)}; got {self.tool!r}")

    def prepare(self) -> None:
        """Build the image if it is not there.

        Raises:
            OSError: The tool is not there, or the image cannot be built.
        """
        if self._call("image", "inspect", self.image).returncode == 0:
            return
        built = self._call("build", "--tag", self.image, "-", text=containerfile())
        if built.returncode != 0:
            last = (built.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise OSError(f"{self.tool} cannot build the image {self.image}: {last}")

    def command(self, folder: Path, limits: Limits, variables: Mapping[str, str]) -> list[str]:
        """Return the command that a Python's arguments follow.

        Args:
            folder: The sandbox's folder, which is all that the container sees of this machine.
            limits: Limits of a job; the container as a whole gets a little more.
            variables: The environment.
        """
        is_rootless = self.tool == "podman" and os.geteuid() != 0  # for root, podman refuses to keep the user
        user = ["--userns", "keep-id"] if is_rootless else ["--user", f"{os.getuid()}:{os.getgid()}"]
        return [
            *(self.tool, "run", "--rm", "--interactive", "--name", folder.name),
            *("--network", "none", "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"),
            *("--pids-limit", str(limits.processes + OVERHEAD_PROCESSES)),
            *("--memory", f"{limits.memory_mb + limits.disk_mb + OVERHEAD_MB}m"),
            *user,
            *("--volume", f"{folder}:{folder}:Z", "--workdir", str(folder)),
            *(part for name, value in variables.items() for part in ("--env", f"{name}={value}")),
            *(self.image, "python"),
        ]

    def remove(self, folder: Path) -> None:
        """End and remove the container of a sandbox, if it is still there."""
        self._call("rm", "--force", folder.name)

    def _call(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.tool, *arguments], input=text, capture_output=True, text=True)


def containerfile() -> str:
    """Return the recipe of the image: this Python, with the packages of the versions that are installed here."""
    pinned = [f"{name}=={importlib.metadata.version(name).partition('+')[0]}" for name in PACKAGES]
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"FROM docker.io/library/python:{python}-slim\nRUN pip install --no-cache-dir {' '.join(pinned)}\n"

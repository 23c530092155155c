"""Run the sandbox's interpreter in a podman or docker container, for systems without Linux's guards.

The container has no network, no root capabilities and a read-only file system. Its only access to this machine is the
sandbox's folder, which contains only a copy of the library and the jobs' folders. All guards of the sandbox are also
active inside the container.
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
"""Packages that the sandboxed code and the library import."""
OVERHEAD_PROCESSES, OVERHEAD_MB = 64, 2048
"""Processes and memory for Python, torch, the fork server and a supervisor, in addition to a job's limits."""


@dataclass(frozen=True)
class Container:
    """The tool and the image with which to start containers.

    Args:
        tool: One of ``CONTAINER_TOOLS``.
        image: The image to start, which is built if it does not exist.

    Raises:
        ValueError: The tool is unknown.
    """

    tool: str
    image: str = IMAGE

    def __post_init__(self) -> None:
        if self.tool not in CONTAINER_TOOLS:
            raise ValueError(f"the container tool must be one of {', '.join(CONTAINER_TOOLS)}; got {self.tool!r}")

    def prepare(self) -> None:
        """Build the image if it does not exist.

        Raises:
            OSError: The tool is not installed, or the image cannot be built.
        """
        if self._call("image", "inspect", self.image).returncode == 0:
            return
        built = self._call("build", "--tag", self.image, "-", text=containerfile())
        if built.returncode != 0:
            last = (built.stderr.strip().splitlines() or ["no error message"])[-1]
            raise OSError(f"{self.tool} cannot build the image {self.image}: {last}")

    def command(self, folder: Path, limits: Limits, variables: Mapping[str, str]) -> list[str]:
        """Return the command that starts Python in a container; append Python's arguments to it.

        Args:
            folder: The sandbox's folder, the only part of this machine that the container can access.
            limits: Limits of a job; the limits of the whole container are slightly higher.
            variables: The environment variables.
        """
        is_rootless = self.tool == "podman" and os.geteuid() != 0  # podman run by root does not support keep-id
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
        """Stop and remove the container of a sandbox, if it still exists."""
        self._call("rm", "--force", folder.name)

    def _call(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.tool, *arguments], input=text, capture_output=True, text=True)


def containerfile() -> str:
    """Return the Containerfile of the image, with this machine's versions of Python and the packages."""
    pinned = [f"{name}=={importlib.metadata.version(name).partition('+')[0]}" for name in PACKAGES]
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"FROM docker.io/library/python:{python}-slim\nRUN pip install --no-cache-dir {' '.join(pinned)}\n"

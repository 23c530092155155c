"""Start JupyterLab on the learner's copies, with the home page."""

import os
from collections.abc import Sequence
from pathlib import Path

from transformer_course.workspace.working_copies import copy_lessons, published_lessons, working_copy

EXTENSIONS = Path(__file__).with_name("labextensions")
"""Where JupyterLab finds the panel."""
SERVER = "transformer_course.home.server"


def open_lab(arguments: Sequence[str]) -> None:
    """Copy the lessons and open them in JupyterLab, which runs until it is shut down.

    Args:
        arguments: Further arguments of JupyterLab, such as ``--no-browser``.

    Raises:
        OSError: The lessons are not there, or nothing can be written.
        ValueError: A lesson is not a notebook.
    """
    folder = working_copy()
    for line in copy_lessons(published_lessons(), folder):
        print(line, flush=True)
    os.environ |= {  # the lessons' kernels inherit them
        "TRANSFORMER_LAB_CHECK_SHAPES": "1",
        "TRANSFORMER_LAB_PARTS": os.environ.get("TRANSFORMER_LAB_PARTS") or str(folder / "parts"),
        "OMP_NUM_THREADS": "1",
    }
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    home = [f"--ServerApp.jpserver_extensions={SERVER}=True", f"--LabApp.extra_labextensions_path={EXTENSIONS}"]

    from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]  # slow, and needed only here

    LabApp.launch_instance([f"--ServerApp.root_dir={folder}", *home, *as_root, *arguments])

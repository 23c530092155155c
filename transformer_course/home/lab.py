"""Start JupyterLab in the folder of the learner's copies, with the home page."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from transformer_course.lesson_folder import published_lessons
from transformer_course.workspace.working_copies import copy_lessons, working_copy

EXTENSIONS_FOLDER = Path(__file__).with_name("labextensions")
"""The folder of the JupyterLab extension that adds the home page."""
SETTINGS_FOLDER = Path(__file__).with_name("settings")
"""The folder with the course's defaults for JupyterLab's settings. The learner's own settings override them."""
SERVER_EXTENSION = "transformer_course.home.server"
DISABLED_EXTENSIONS = ("jupyter_lsp", "jupyterlab_jupytext", "notebook_shim")
"""Server extensions of other packages that delay the start and that no lesson needs."""
SKIPPED_MODULES = ("httpx._main", "isoduration")
"""Optional modules of other packages. Importing them would take a seventh of the start-up time."""


def open_lab(arguments: Sequence[str]) -> None:
    """Copy the lessons and open them in JupyterLab, which runs until it is shut down.

    Args:
        arguments: Additional arguments for JupyterLab, such as ``--no-browser``.

    Raises:
        OSError: The lessons are missing.
        ValueError: A lesson is not a notebook, or the folder is not writable.
    """
    folder = working_copy()
    try:
        lines = copy_lessons(published_lessons(), folder)
    except OSError as error:
        if error.errno is None:  # raised by copy_lessons, not by the operating system
            raise
        advice = "Choose another folder for your lessons: transformer-course lab --folder FOLDER"
        raise ValueError(f"{folder} is not writable: {error.strerror}. {advice}") from error
    print("\n".join([*lines, f"Your lessons are in {folder}."]), flush=True)
    sys.modules |= dict.fromkeys(SKIPPED_MODULES)  # type: ignore[arg-type]  # None makes an import fail
    for address in running_labs(folder):
        print(f"They are already open at {address}. Work in only one of these windows.", flush=True)
    os.environ |= {  # the kernels of the lessons inherit these variables
        "TRANSFORMER_LAB_CHECK_SHAPES": "1",
        "TRANSFORMER_LAB_PARTS": os.environ.get("TRANSFORMER_LAB_PARTS") or str(folder / "parts"),
        "TRANSFORMER_LAB_LIVE": "1",  # a learner is present, and the front end responds to buttons
        "OMP_NUM_THREADS": "1",
        "JUPYTER_CONFIG_PATH": os.pathsep.join(
            filter(None, [os.environ.get("JUPYTER_CONFIG_PATH"), str(SETTINGS_FOLDER)])
        ),
    }
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    extensions = {SERVER_EXTENSION: True, **dict.fromkeys(DISABLED_EXTENSIONS, False)}
    home = [
        *(f"--ServerApp.jpserver_extensions={name}={is_on}" for name, is_on in extensions.items()),
        f"--LabApp.extra_labextensions_path={EXTENSIONS_FOLDER}",
        "--LabApp.extension_manager=readonly",  # the default manager imports a PyPI client
    ]

    from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]  # imported here because it is slow

    LabApp.launch_instance([f"--ServerApp.root_dir={folder}", *home, *as_root, *arguments])


def running_labs(folder: Path) -> list[str]:
    """Return the URLs of this user's running Jupyter servers whose root is a folder."""
    from jupyter_server.serverapp import list_running_servers  # imported here because it is slow

    servers = [server for server in list_running_servers() if Path(server.get("root_dir", "")) == folder]
    return [f"{server['url']}lab?token={server['token']}" for server in servers]

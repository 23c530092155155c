"""Save the learner's right answers for later lessons, in a file of plain Python for each lesson.

``parts_folder`` returns the folder of these files. A file contains a section for each exercise that passed, such as
``# %% softmax``. Each section runs without the other sections.
"""

import os
import stat
from pathlib import Path
from typing import Any

from transformer_course.exercises import lesson_of
from transformer_course.running.isolation import suppressed_output
from transformer_course.running.parts import Parts
from transformer_course.workspace.parts_file import read_sections, write_sections
from transformer_course.workspace.standalone_source import NotStandalone, standalone_source

NO_FOLDER = (
    "there is no folder for it yet. `python3 course.py lab` makes one. From then on lessons use it, whatever program "
    "opens them."
)
NO_FOLDER_INSTALLED = (
    "start the lessons with `transformer-course lab`, or set `TRANSFORMER_LAB_LESSONS` to your folder of lessons "
    "before you start Jupyter."
)


def parts_folder(shell: Any) -> Path | None:
    """Return the folder of the saved parts, or None if parts are not saved.

    The environment variable ``TRANSFORMER_LAB_PARTS``, which ``course.py lab`` sets, contains the folder. If it is the
    empty string, parts are not saved. If it is not set, for example in a notebook opened with another program, the
    folder is ``parts`` in the learner's working copies, provided that

    - the code runs in a notebook,
    - ``course.py lab`` has created the working copies, and
    - the working copies belong to the user and no one else can write to them, as far as the operating system reports.

    Loading parts executes code. The folder therefore depends only on the course's installation or on
    ``TRANSFORMER_LAB_LESSONS`` and never on the notebook's location, because a downloaded notebook could come with a
    folder ``parts``.

    Args:
        shell: The IPython shell of the notebook, or None outside a notebook.
    """
    variable = os.environ.get("TRANSFORMER_LAB_PARTS")
    if variable is not None:
        return Path(variable) if variable else None
    if shell is None or _explain_unsafe_folder():
        return None
    from transformer_course.workspace.working_copies import working_copy  # imported here because it is slow

    return working_copy() / "parts"


def record_folder(shell: Any) -> Path | None:
    """Return the folder of the progress record, which is the learner's folder, or None if parts are not saved."""
    from transformer_course.workspace.working_copies import EDITIONS_FILE, working_copy

    if shell is None or parts_folder(shell) is None or not (working_copy() / EDITIONS_FILE).is_file():
        return None
    return working_copy()


def explain_no_folder(shell: Any) -> str:
    """Return the reason why a passed part is not saved, with advice, or "" if it is saved or saving is turned off."""
    if shell is None or "TRANSFORMER_LAB_PARTS" in os.environ or not (reason := _explain_unsafe_folder()):
        return ""
    return f"It is not kept for later lessons: {reason}"


def _explain_unsafe_folder() -> str:
    """Return the reason why the working copies are not used, with advice, or "" if they are safe to use."""
    from transformer_course.lesson_folder import is_clone
    from transformer_course.workspace.working_copies import EDITIONS_FILE, working_copy

    lessons = working_copy()
    record = lessons / EDITIONS_FILE
    try:
        if not record.is_file():
            return NO_FOLDER if is_clone() else NO_FOLDER_INSTALLED
        shared = [path for path in (lessons, record, lessons / "parts") if path.exists() and _is_shared(path)]
    except OSError as error:
        return f"{lessons} cannot be read: {error}. Start the lessons with `python3 course.py lab`."
    if not shared:
        return ""
    return (
        f"{shared[0]} belongs to somebody else, or others may write to it. Set `TRANSFORMER_LAB_PARTS` to a folder of "
        "your own before you start Jupyter."
    )


def _is_shared(path: Path) -> bool:
    """Return whether a file or folder belongs to another user or is writable by all users."""
    if not hasattr(os, "getuid"):  # on Windows, other users cannot access a user's home folder
        return False
    status = path.stat()
    return status.st_uid != os.getuid() or bool(status.st_mode & stat.S_IWOTH)


def save_part(exercise: str, attempt: Any, shell: Any) -> str | None:
    """Write an attempt that passed to its lesson's file, replacing an earlier attempt.

    Args:
        exercise: The name of the exercise.
        attempt: The function or class that passed.
        shell: The IPython shell whose cells define the attempt. Without a shell, nothing is saved.

    Returns:
        The reason why the attempt cannot be saved, or None if it was saved or there is no folder.
    """
    folder = parts_folder(shell)
    if folder is None or shell is None:
        return None
    name = next((n for n, value in shell.user_ns.items() if value is attempt and not n.startswith("_")), None)
    if name is None:
        return "it has no name in the notebook"
    try:
        source = standalone_source(name, shell.history_manager.input_hist_parsed)
        if name != exercise:
            source += f"\n\n\n{exercise} = {name}"
        _execute(source, exercise, "saved part")
        _write_section(folder / f"{lesson_of(exercise)}.py", exercise, source)
    except NotStandalone as error:
        return f"where it has `{error}` from could not be found"
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}"
    return None


def load_parts(parts: Parts, shell: Any = None) -> None:
    """Load all saved parts. A part that does not run is skipped and reported in a printed message."""
    folder = parts_folder(shell)
    for path in sorted(folder.glob("*.py")) if folder else []:
        try:
            head, sections = read_sections(path)
        except OSError as error:
            print(f"{path} is skipped: {error}")
            continue
        lines = head.count("\n")
        for name, source in sections.items():
            try:
                parts.add(name, _execute("\n" * lines + source, name, str(path)))
            except (Exception, SystemExit) as error:
                print(f"{path}: {name} is skipped because it does not run: {type(error).__name__}: {error}")
            lines += source.count("\n")


def _write_section(path: Path, exercise: str, source: str) -> None:
    head, sections = read_sections(path)
    write_sections(path, head, sections | {exercise: f"\n{source}\n\n\n"})


def _execute(source: str, name: str, file: str) -> Any:
    scope: dict[str, Any] = {"__name__": "saved_part"}
    with suppressed_output():
        exec(compile(source, file, "exec"), scope)
    return scope[name]

"""Save the learner's right answers for later lessons: one file of plain Python per lesson.

``parts_folder`` returns the folder. A file has a section for each exercise that passed, such as ``# %% softmax``, which
needs nothing from other sections.
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

    It is ``TRANSFORMER_LAB_PARTS``, which ``course.py lab`` sets; the empty string means None. If the variable is not
    set, for example in a notebook opened with another program, it is the folder ``parts`` of the learner's working
    copies, but only

    - in a notebook,
    - after ``course.py lab`` has created the working copies, and
    - if they belong to the user and no one else can write to them, as far as the operating system reports.

    Loading parts runs code. So the folder depends only on the course's installation or on ``TRANSFORMER_LAB_LESSONS``,
    never on the notebook's location: a notebook from someone else could come with a folder ``parts``.

    Args:
        shell: The IPython shell of the notebook; None outside a notebook.
    """
    place = os.environ.get("TRANSFORMER_LAB_PARTS")
    if place is not None:
        return Path(place) if place else None
    if shell is None or _why_unsafe():
        return None
    from transformer_course.workspace.working_copies import working_copy  # slow to import, and seldom needed

    return working_copy() / "parts"


def record_folder(shell: Any) -> Path | None:
    """Return the folder of the progress record, which is that of the working copies, or None if parts are not saved."""
    from transformer_course.workspace.working_copies import EDITIONS_FILE, working_copy

    if shell is None or parts_folder(shell) is None or not (working_copy() / EDITIONS_FILE).is_file():
        return None
    return working_copy()


def explain_no_folder(shell: Any) -> str:
    """Return why a part that passes is not saved, and what to do; "" if it is saved, or saving is turned off."""
    if shell is None or "TRANSFORMER_LAB_PARTS" in os.environ or not (why := _why_unsafe()):
        return ""
    return f"It is not kept for later lessons: {why}"


def _why_unsafe() -> str:
    """Return why the working copies of the lessons are not used, and what to do; "" if they are safe."""
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
    if not hasattr(os, "getuid"):  # on Windows, a user's home folder is private
        return False
    status = path.stat()
    return status.st_uid != os.getuid() or bool(status.st_mode & stat.S_IWOTH)


def save_part(exercise: str, attempt: Any, shell: Any) -> str | None:
    """Write an attempt that passed into its lesson's file, replacing an earlier one.

    Args:
        exercise: The name of the exercise.
        attempt: The function or class that passed.
        shell: The IPython shell whose cells define the attempt; without one, nothing is saved.

    Returns:
        Why the attempt cannot be saved, or None if it was saved or there is no folder.
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
    """Load all saved parts; skip those that do not run, and print a message for each."""
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


def _execute(source: str, name: str, where: str) -> Any:
    scope: dict[str, Any] = {"__name__": "saved_part"}
    with suppressed_output():
        exec(compile(source, where, "exec"), scope)
    return scope[name]

"""What the learner got right is saved: one file of plain Python for each lesson, where later lessons find it.

The folder is what ``TRANSFORMER_LAB_PARTS`` says; where that is not set, nothing is saved and nothing is found. A file
has a section for each exercise that passed, ``# %% softmax``, which needs nothing from any other section.
"""

import os
import re
from pathlib import Path
from typing import Any

from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.course.exercises import lesson_of
from transformer_lab.course.running.isolation import suppressed_output
from transformer_lab.course.running.parts import Parts
from transformer_lab.course.workspace.standalone_source import NotStandalone, standalone_source

HEAD = """\
# Your own parts of lesson {lesson}, as they passed. Later lessons work with them.
# Without this file they work with the library's.

"""
SECTION = re.compile(r"^# %% (\w+)$", re.MULTILINE)


def save_part(exercise: str, attempt: Any, shell: Any) -> str | None:
    """Write an attempt that passed into its lesson's file, in the place of an earlier one.

    Args:
        exercise: The name of the exercise.
        attempt: What answers it.
        shell: The IPython shell whose cells define the attempt; without one, nothing is saved.

    Returns:
        Why it cannot be saved, if it cannot.
    """
    folder = _folder()
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


def load_parts(parts: Parts) -> None:
    """Add all that was saved to the parts; skip what does not run, and print which it is."""
    folder = _folder()
    for path in sorted(folder.glob("*.py")) if folder else []:
        try:
            head, sections = _read_sections(path)
        except OSError as error:
            print(f"{path} is skipped: {error}")
            continue
        lines = head.count("\n")
        for name, source in sections.items():
            try:
                parts.add(name, _execute("\n" * lines + source, name, str(path)))
            except (Exception, SystemExit) as error:
                print(f"{path}: {name} is skipped, for it does not run: {type(error).__name__}: {error}")
            lines += source.count("\n")


def _folder() -> Path | None:
    place = os.environ.get("TRANSFORMER_LAB_PARTS")
    return Path(place) if place else None


def _write_section(path: Path, exercise: str, source: str) -> None:
    head, sections = _read_sections(path)
    sections[exercise] = f"\n{source}\n\n\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, head + "".join(f"# %% {name}{code}" for name, code in sections.items()))


def _execute(source: str, name: str, where: str) -> Any:
    scope: dict[str, Any] = {"__name__": "saved_part"}
    with suppressed_output():
        exec(compile(source, where, "exec"), scope)
    return scope[name]


def _read_sections(path: Path) -> tuple[str, dict[str, str]]:
    """Return what a file begins with, and its sections by name."""
    if not path.exists():
        return HEAD.format(lesson=path.stem), {}
    head, *sections = SECTION.split(path.read_text(encoding="utf-8", errors="surrogateescape"))
    return head, dict(zip(sections[::2], sections[1::2], strict=True))

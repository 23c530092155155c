"""Write the page that lists all exercises, with a search field."""

from collections.abc import Sequence

from transformer_course.home.exercise_list import ListedExercise
from transformer_course.home.lesson_outline import Outline


def page(outlines: Sequence[Outline]) -> str:
    """Return the page in Markdown, with a table for each lesson and a link to the section of each exercise."""
    with_exercises = [outline for outline in outlines if outline.listed]
    n = sum(len(outline.listed) for outline in with_exercises)
    return "\n\n".join(
        [
            f"# All {n} exercises",
            "You write each of these functions and classes in a notebook. If your code is wrong, a check explains "
            "your mistake. ★ marks optional exercises. The minutes are a rough guide.",
            '<div class="exercise-search"></div>',
            *(_table(outline) for outline in with_exercises),
            "",
        ]
    )


def _table(outline: Outline) -> str:
    head = "| Exercise | Topic | Minutes |\n|---|---|--:|"
    rows = [_row(outline.name, exercise) for exercise in outline.listed]
    title = f"{outline.number} · {outline.title}" if outline.number else outline.title
    return f"## [{title}](notebooks/{outline.name}.ipynb)\n\n" + "\n".join([head, *rows])


def _row(lesson: str, exercise: ListedExercise) -> str:
    # An HTML link, because Sphinx cannot resolve links to cells.
    link = f'<a href="notebooks/{lesson}.html#cell-{exercise.heading_cell}">`{exercise.name}`</a>'
    terms = f" ({', '.join(exercise.terms)})" if exercise.terms else ""
    about = f"**{_plain(exercise.topic)}**{terms}: {_plain(exercise.summary)}"
    return f"| {link}{' ★' if exercise.is_stretch else ''} | {about} | {exercise.minutes} |"


def _plain(text: str) -> str:
    """Escape Markdown in a text."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]()<>#|$^" else letter for letter in text)

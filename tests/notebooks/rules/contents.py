"""Rules about a lesson's contents: all required parts must be present, in the required order."""

import ast
import re
from collections.abc import Iterator

from authoring.glossary import terms_of
from docs.site.teaching_plan import note_to
from notebooks.build import FOLDER
from tests.notebooks.lesson import Lesson, calls, displayed, syntax
from transformer_course.home.reading_time import TOTAL_TIME_LABEL, promised_minutes

ORDER = [
    "Before you start",
    "Bug hunt",
    "★ Transfer",
    "In short",
    "New words",
    "Interview questions",
    "What to read next",
]
PRIMER_ORDER = ["In short", "Self-check", "New words", "Interview questions", "What to read next"]
"""The sections of the primer, which has one exercise and no bug hunt."""
EXPERIMENT_PARTS = ["**Claim.**", "**Prediction.**", "**Verdict.**"]
WITHOUT_EXPERIMENT: set[str] = set()
TITLE = [
    r"\A# {number} · .+",
    r"\*\*The question\.\*\*",
    r"\*\*Afterwards you can\*\*",
    r"Reading: \d+ minutes\.",
]
DETAILS = re.compile(r"<details>\s*<summary>(.+?)</summary>(.*?)</details>", re.DOTALL)


def title_has_question_goal_and_times(lesson: Lesson) -> Iterator[str]:
    for pattern in TITLE:
        expected = pattern.replace("{number}", lesson.number or lesson.name.capitalize())
        if not re.search(expected, lesson.cells[0].source):
            yield f"the first cell does not match {expected!r}"
    if lesson.exercises and promised_minutes(lesson.book, "Exercises") is None:
        yield "the first cell does not give the time for the exercises"


def title_gives_total_time(lesson: Lesson) -> Iterator[str]:
    if promised_minutes(lesson.book, TOTAL_TIME_LABEL) is None:
        yield f"the first cell does not give the total time: {TOTAL_TIME_LABEL}: about …"


def last_code_cell_counts_predictions(lesson: Lesson) -> Iterator[str]:
    if [cell.source for cell in lesson.code[-1:]] != ["tally()"]:
        yield "the last code cell must be tally(), which counts the predictions"


def sections_are_in_order(lesson: Lesson) -> Iterator[str]:
    positions, order = [], ORDER if lesson.is_full_lesson else PRIMER_ORDER
    for part in order:
        found = [i for i, heading in enumerate(lesson.headings) if heading.startswith(part)]
        if len(found) != 1:
            yield f"{len(found)} headings begin with {part!r}; there should be one"
        positions += found
    if positions != sorted(positions):
        yield f"the sections are not in the order {', '.join(order)}"


def first_code_cells_import_and_seed(lesson: Lesson) -> Iterator[str]:
    if [cell.id for cell in lesson.code[:1]] != ["imports"]:
        yield "the first code cell must have the id imports"
    if not any("torch.manual_seed(" in cell.source for cell in lesson.code[1:2]):
        yield "the second code cell does not seed torch"
    for cell in lesson.code[1:]:
        if any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(syntax(cell))):
            yield f"{cell.id} has an import; move it to the first code cell, the only cell on which exercises depend"


def questions_have_answers(lesson: Lesson) -> Iterator[str]:
    for heading, n_min in (("Before you start", 3 if lesson.is_full_lesson else 0), ("Interview questions", 6)):
        found = DETAILS.findall(lesson.section(heading))
        if len(found) < n_min:
            yield f"{heading}: {len(found)} questions with a collapsed answer; there should be at least {n_min}"
        yield from (f"{heading}: no answer to {question!r}" for question, answer in found if not answer.strip())


def new_words_are_defined_and_bold(lesson: Lesson) -> Iterator[str]:
    prose = "\n".join(cell.source for cell in lesson.prose).partition("## New words")[0]
    in_bold = {" ".join(words.split()).casefold() for words in re.findall(r"\*\*(.+?)\*\*", prose, re.DOTALL)}
    terms = terms_of(lesson.book)
    if len(terms) < 3:
        yield f"{len(terms)} new words are defined; there should be at least 3"
    for term in terms:
        if not any(term.name.casefold() in words for words in in_bold):
            yield f"{term.name!r} is defined among the new words, but is never in bold before"
        if not re.search(r"[.?!)]$", term.definition):
            yield f"the definition of {term.name!r} does not end with a punctuation mark"


def answers_cite_existing_sections(lesson: Lesson) -> Iterator[str]:
    for _, answer in DETAILS.findall(lesson.section("Interview questions")):
        for cited in re.findall(r"<i>(.+?)</i>", " ".join(answer.split())):
            if not any(heading.startswith(cited) for heading in lesson.headings):
                yield f"an answer cites {cited!r}, but no heading begins with these words"


def linked_notebooks_exist(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.prose:
        for name in re.findall(r"\]\(([^)#:]+)[)#]", cell.source):
            if not (FOLDER / name).exists():
                yield f"{cell.id} has a link to {name}, which does not exist"


def every_prediction_is_compared(lesson: Lesson) -> Iterator[str]:
    open_since: dict[str, str] = {}
    for before, cell in zip([None, *lesson.cells], lesson.cells, strict=False):
        if cell.cell_type != "code":
            continue
        names = _predicted(syntax(cell))
        if (cell in lesson.tagged("prediction")) != bool(names):
            yield f"{cell.id}: cells tagged prediction, and only these, must contain only `name = ...`"
        if names and (before is None or not re.search(r"\*\*(Predict|Your turn)\.\*\*", before.source)):
            yield f"{cell.id}: the cell before it must contain **Predict.** or **Your turn.**"
        for name in names:
            if name in open_since:
                yield f"{name} in {open_since[name]} was not compared before {cell.id}"
            open_since[name] = cell.id
        for call in calls(cell, "compare"):
            name = ast.unparse(call.args[0])
            if open_since.pop(name, None) is None:
                yield f"{cell.id} compares {name}, which was not predicted"
    yield from (f"{name} in {cell} was never compared" for name, cell in open_since.items())


def has_predictions_bug_hunt_and_transfer_task(lesson: Lesson) -> Iterator[str]:
    if len(lesson.tagged("prediction")) < 2:
        yield "there should be at least two experiments with a prediction"
    if not lesson.is_full_lesson:
        return
    if len(lesson.tagged("bug-hunt")) != 1:
        yield f"there should be one cell tagged bug-hunt; found {len(lesson.tagged('bug-hunt'))}"
    if not any(exercise.stretch for exercise in lesson.exercises.values()):
        yield "there should be a stretch exercise"


def has_experiment_section(lesson: Lesson) -> Iterator[str]:
    """Check that the experiment section contains a claim, a prediction, a cell with three seeds and a verdict. The
    section must come before the summary. The build does not run the cell, and the experiment is not graded.
    """
    if lesson.number in WITHOUT_EXPERIMENT:
        return
    text = lesson.section("Your experiment")
    yield from (f"Your experiment does not contain {part}" for part in EXPERIMENT_PARTS if part not in text)
    cells = lesson.tagged("experiment")
    if [cell.id for cell in cells] != ["experiment"]:
        yield f"there should be one cell with the id and the tag experiment; found {len(cells)}"
        return
    if "for seed in range(3):" not in cells[0].source:
        yield "experiment should run three seeds"
    following = lesson.after(cells[0])
    if following is None or not following.source.startswith("## In short"):
        yield "experiment should be right before In short"


def has_table_of_shapes(lesson: Lesson) -> Iterator[str]:
    columns = ("module", "input shapes", "output shape", "parameters")
    if not any(all(f"<th>{c}</th>" in displayed(cell, "text/html") for c in columns) for cell in lesson.code):
        yield f"there should be a table with the columns {', '.join(columns)}"


def note_for_instructors_lists_points(lesson: Lesson) -> Iterator[str]:
    if any("For instructors" in cell.source for cell in lesson.prose):
        yield "notes for instructors belong in docs/lesson_notes.md, not in the lesson"
    note = note_to(lesson.name)
    for name, exercise in lesson.exercises.items():
        if f"{name} {exercise.points}" not in note:
            yield f"the note for instructors does not contain: {name} {exercise.points}"
    for topic in ("*Where students stumble*", "*To ask in class*"):
        if topic not in note:
            yield f"the note for instructors has no {topic}"


def _predicted(tree: ast.Module) -> list[str]:
    """Return the names to which a cell assigns ``...``, or an empty list if the cell contains any other code."""
    names: list[str] = []
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Constant(value)) if value is ...:
                names.append(name)
            case ast.Assign(targets=[ast.Tuple(targets)], value=ast.Tuple(values)):
                if not all(isinstance(value, ast.Constant) and value.value is ... for value in values):
                    return []
                names += [ast.unparse(target) for target in targets]
            case _:
                return []
    return names


RULES = [
    title_has_question_goal_and_times,
    title_gives_total_time,
    last_code_cell_counts_predictions,
    sections_are_in_order,
    first_code_cells_import_and_seed,
    questions_have_answers,
    new_words_are_defined_and_bold,
    answers_cite_existing_sections,
    linked_notebooks_exist,
    every_prediction_is_compared,
    has_predictions_bug_hunt_and_transfer_task,
    has_experiment_section,
    has_table_of_shapes,
    note_for_instructors_lists_points,
]

"""A lesson has all its parts, in order."""

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
ORDER_WITHOUT_EXERCISES = ["In short", "Self-check", "New words", "Interview questions", "What to read next"]
"""The sections of the primer, which comes first and has no exercises for a check."""
AN_EXPERIMENT = ["**Claim.**", "**Prediction.**", "**Verdict.**"]
WITHOUT_AN_EXPERIMENT: set[str] = set()
TITLE = [
    r"\A# {number} · .+",
    r"\*\*The question\.\*\*",
    r"\*\*Afterwards you can\*\*",
    r"Reading: \d+ minutes\.",
]
DETAILS = re.compile(r"<details>\s*<summary>(.+?)</summary>(.*?)</details>", re.DOTALL)


def the_title_says_what_to_expect(lesson: Lesson) -> Iterator[str]:
    for pattern in TITLE:
        wanted = pattern.replace("{number}", lesson.number or lesson.name.capitalize())
        if not re.search(wanted, lesson.cells[0].source):
            yield f"the first cell does not match {wanted!r}"
    if lesson.exercises and promised_minutes(lesson.book, "Exercises") is None:
        yield "the first cell does not say how long the exercises take"


def the_title_says_how_long_everything_takes(lesson: Lesson) -> Iterator[str]:
    if promised_minutes(lesson.book, TOTAL_TIME_LABEL) is None:
        yield f"the first cell does not say how long everything takes: {TOTAL_TIME_LABEL}: about …"


def predictions_are_counted_at_the_end(lesson: Lesson) -> Iterator[str]:
    if [cell.source for cell in lesson.code[-1:]] != ["tally()"]:
        yield "the last code cell does not count the predictions: tally()"


def the_parts_come_in_order(lesson: Lesson) -> Iterator[str]:
    places, order = [], ORDER if lesson.exercises else ORDER_WITHOUT_EXERCISES
    for part in order:
        found = [place for place, heading in enumerate(lesson.headings) if heading.startswith(part)]
        if len(found) != 1:
            yield f"{len(found)} headings begin with {part!r}; there should be one"
        places += found
    if places != sorted(places):
        yield f"the parts do not come in the order {', '.join(order)}"


def the_first_code_imports_and_the_second_seeds(lesson: Lesson) -> Iterator[str]:
    if [cell.id for cell in lesson.code[:1]] != ["imports"]:
        yield "the first code cell is not imports"
    if not any("torch.manual_seed(" in cell.source for cell in lesson.code[1:2]):
        yield "the second code cell does not seed torch"
    for cell in lesson.code[1:]:
        if any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(syntax(cell))):
            yield f"{cell.id} imports something; exercise cells stand on the first cell alone"


def old_and_new_questions_are_asked(lesson: Lesson) -> Iterator[str]:
    for heading, least in (("Before you start", 3 if lesson.exercises else 0), ("Interview questions", 6)):
        found = DETAILS.findall(lesson.section(heading))
        if len(found) < least:
            yield f"{heading}: {len(found)} questions with a folded answer; there should be at least {least}"
        yield from (f"{heading}: no answer to {question!r}" for question, answer in found if not answer.strip())


def new_words_stand_in_bold_where_they_come_first(lesson: Lesson) -> Iterator[str]:
    prose = "\n".join(cell.source for cell in lesson.prose).partition("## New words")[0]
    in_bold = {" ".join(words.split()).casefold() for words in re.findall(r"\*\*(.+?)\*\*", prose, re.DOTALL)}
    terms = terms_of(lesson.book)
    if len(terms) < 3:
        yield f"{len(terms)} new words are defined; there should be at least 3"
    for term in terms:
        if not any(term.name.casefold() in words for words in in_bold):
            yield f"{term.name!r} is defined among the new words, and stands in bold nowhere before"
        if not re.search(r"[.?!)]$", term.definition):
            yield f"the definition of {term.name!r} does not end properly"


def model_answers_point_at_sections_that_exist(lesson: Lesson) -> Iterator[str]:
    for _, answer in DETAILS.findall(lesson.section("Interview questions")):
        for cited in re.findall(r"<i>(.+?)</i>", " ".join(answer.split())):
            if not any(heading.startswith(cited) for heading in lesson.headings):
                yield f"an answer points at {cited!r}, and no heading begins like that"


def links_to_other_notebooks_lead_somewhere(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.prose:
        for name in re.findall(r"\]\(([^)#:]+)[)#]", cell.source):
            if not (FOLDER / name).exists():
                yield f"{cell.id} has a link to {name}, which is not there"


def every_prediction_is_asked_for_and_answered(lesson: Lesson) -> Iterator[str]:
    open_since: dict[str, str] = {}
    for before, cell in zip([None, *lesson.cells], lesson.cells, strict=False):
        if cell.cell_type != "code":
            continue
        names = _predicted(syntax(cell))
        if (cell in lesson.tagged("prediction")) != bool(names):
            yield f"{cell.id}: cells tagged prediction hold `name = ...` and nothing else, and no others do"
        if names and (before is None or not re.search(r"\*\*(Predict|Your turn)\.\*\*", before.source)):
            yield f"{cell.id}: the cell before it says neither **Predict.** nor **Your turn.**"
        for name in names:
            if name in open_since:
                yield f"{name} of {open_since[name]} was not compared before {cell.id}"
            open_since[name] = cell.id
        for call in calls(cell, "compare"):
            name = ast.unparse(call.args[0])
            if open_since.pop(name, None) is None:
                yield f"{cell.id} compares {name}, which was not predicted"
    yield from (f"{name} of {cell} was never compared" for name, cell in open_since.items())


def it_has_experiments_a_bug_hunt_and_a_transfer_task(lesson: Lesson) -> Iterator[str]:
    if len(lesson.tagged("prediction")) < 2:
        yield "there should be at least two experiments with a prediction"
    if not lesson.exercises:
        return
    if len(lesson.tagged("bug-hunt")) != 1:
        yield f"there should be one cell tagged bug-hunt; found {len(lesson.tagged('bug-hunt'))}"
    if not any(exercise.stretch for exercise in lesson.exercises.values()):
        yield "no exercise is a stretch"


def readers_test_a_claim_of_their_own(lesson: Lesson) -> Iterator[str]:
    """There are a claim, a prediction, three seeds and a verdict before the summary; the build does not run them, and
    no one grades them.
    """
    if lesson.number in WITHOUT_AN_EXPERIMENT:
        return
    said = lesson.section("Your experiment")
    yield from (f"Your experiment does not say {part}" for part in AN_EXPERIMENT if part not in said)
    cells = lesson.tagged("experiment")
    if [cell.id for cell in cells] != ["experiment"]:
        yield f"there should be one cell tagged experiment, of that id; found {len(cells)}"
        return
    if "for seed in range(3):" not in cells[0].source:
        yield "experiment should run three seeds"
    following = lesson.after(cells[0])
    if following is None or not following.source.startswith("## In short"):
        yield "experiment does not stand right before In short"


def a_table_shows_the_shapes(lesson: Lesson) -> Iterator[str]:
    columns = ("module", "input shapes", "output shape", "parameters")
    if not any(all(f"<th>{c}</th>" in displayed(cell, "text/html") for c in columns) for cell in lesson.code):
        yield f"no table has the columns {', '.join(columns)}"


def instructors_find_a_note_with_the_points_in_the_guide(lesson: Lesson) -> Iterator[str]:
    if any("For instructors" in cell.source for cell in lesson.prose):
        yield "what is meant for instructors stands in docs/lesson_notes.md, and not in the lesson"
    note = note_to(lesson.name)
    for name, exercise in lesson.exercises.items():
        if f"{name} {exercise.points}" not in note:
            yield f"the note for instructors does not say: {name} {exercise.points}"
    for topic in ("*Where students stumble*", "*To ask in class*"):
        if topic not in note:
            yield f"the note for instructors has no {topic}"


def _predicted(tree: ast.Module) -> list[str]:
    """Return the names that a cell leaves to predict, or none if it does anything else."""
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
    the_title_says_what_to_expect,
    the_title_says_how_long_everything_takes,
    predictions_are_counted_at_the_end,
    the_parts_come_in_order,
    the_first_code_imports_and_the_second_seeds,
    old_and_new_questions_are_asked,
    new_words_stand_in_bold_where_they_come_first,
    model_answers_point_at_sections_that_exist,
    links_to_other_notebooks_lead_somewhere,
    every_prediction_is_asked_for_and_answered,
    it_has_experiments_a_bug_hunt_and_a_transfer_task,
    readers_test_a_claim_of_their_own,
    a_table_shows_the_shapes,
    instructors_find_a_note_with_the_points_in_the_guide,
]

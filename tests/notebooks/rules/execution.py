"""Rules about execution: a stored lesson must have run from top to bottom without errors."""

import re
from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO

from nbformat import NotebookNode
from PIL import Image

from notebooks.build import COLAB, SKIP_TAG, VARYING
from tests.notebooks.lesson import Lesson, calls, displayed
from transformer_course.published_models.in_lesson import TAG as NEEDS_MODEL
from transformer_course.published_models.in_lesson import names_bound, names_in

MIN_PICTURE_PIXELS = 100
UNCHECKED = re.compile(r"#\s*(?:NBVAL|PYTEST_VALIDATE)_\w+")
"""Comments that make nbval skip cells or their outputs, as some tags do."""


def only_colab_and_experiment_are_skipped(lesson: Lesson) -> Iterator[str]:
    skipped = [cell.id for cell in lesson.tagged(SKIP_TAG)]
    if skipped != [COLAB, "experiment"]:
        yield f"{', '.join(skipped)} are tagged {SKIP_TAG}; only {COLAB} and experiment should be"
    for cell in lesson.code:
        tags = {tag for tag in cell.metadata.get("tags", []) if tag.startswith("nbval-") or "exception" in tag}
        for marker in [*UNCHECKED.findall(cell.source), *sorted(tags - {"nbval-ignore-output"})]:
            yield f"{cell.id} is marked {marker}, so nbval would not run or check it"


def code_cells_were_executed_in_order(lesson: Lesson) -> Iterator[str]:
    for number, cell in enumerate(lesson.code, start=1):
        if cell.execution_count is None:
            yield f"{cell.id} was never executed"
        elif cell.execution_count != number:
            yield f"{cell.id} was executed as number {cell.execution_count}, but is number {number}"


def no_cell_raised_or_warned(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"{cell.id} raised {output.ename}: {output.evalue}"
            if output.get("name") == "stderr":
                yield f"{cell.id} wrote to stderr: {output.text}"


def outputs_are_machine_independent(lesson: Lesson) -> Iterator[str]:
    """Check that outputs contain no memory addresses or paths, because they differ between runs and machines."""
    for cell in lesson.code:
        matches = re.findall(
            r"\b0x[0-9a-f]{6,}|ipykernel_\d+|/home/\S+|/tmp/\S+", displayed(cell) + displayed(cell, "text/html")
        )
        yield from (f"{cell.id} shows {match}" for match in matches)


def numbers_have_few_digits(lesson: Lesson) -> Iterator[str]:
    """Check that printed numbers have few digits, because the remaining digits differ between processors."""
    for cell in lesson.code:
        if VARYING & {*cell.metadata.get("tags", [])}:
            continue
        for number in re.findall(r"\d+\.\d+", displayed(cell)):
            if len(number.replace(".", "").strip("0")) > 4:
                yield f"{cell.id} shows {number}, which has too many digits"
        if re.search(r"-0\.?0*(?![\d.])", displayed(cell)):
            yield f"{cell.id} shows a negative zero"
        for tensor in re.findall(r"tensor\(.*?\)", displayed(cell), re.DOTALL):
            if tensor.count(",") > 6:
                yield f"{cell.id} shows a raw tensor: {tensor[:40]}…"


def _pictures(lesson: Lesson) -> Iterator[tuple[str, NotebookNode, Image.Image]]:
    """Yield the cell ID, the output and the decoded image of each picture in a lesson."""
    for cell in lesson.code:
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                yield cell.id, output, Image.open(BytesIO(b64decode(output.data["image/png"]))).convert("RGBA")


def pictures_are_transparent(lesson: Lesson) -> Iterator[str]:
    """Check that pictures have a transparent background, because white is hard to read in dark mode."""
    for cell, _, picture in _pictures(lesson):
        if picture.getpixel((0, 0))[3]:
            yield f"{cell} shows a picture that is not transparent"


def pictures_are_not_blank(lesson: Lesson) -> Iterator[str]:
    """Check that pictures are neither tiny nor blank. No test compares pixels, because they differ between machines."""
    for cell, _, picture in _pictures(lesson):
        if min(picture.size) < MIN_PICTURE_PIXELS or picture.getcolors(maxcolors=2) is not None:
            yield f"{cell} shows a picture of {picture.width} × {picture.height} pixels that is almost empty"


def pictures_have_descriptions_as_plain_text(lesson: Lesson) -> Iterator[str]:
    """Check that the plain-text output of each picture is its description, which nbval compares."""
    for cell, output, _ in _pictures(lesson):
        words = output.data.get("text/plain", "<")
        if words.startswith("<") or words != output.metadata.get("image/png", {}).get("alt", words):
            yield f"{cell} shows a picture whose plain text is not its description: {words[:40]}"


def lesson_works_without_published_model(lesson: Lesson) -> Iterator[str]:
    """Check that cells without the tag ``published-model`` do not depend on cells with this tag. If the published model
    is not available, tagged cells show their stored outputs.
    """
    needing = lesson.tagged(NEEDS_MODEL)
    bound = set[str]().union(*(names_bound(cell.source) for cell in needing))
    for cell in lesson.code:
        if cell not in needing and (used := sorted(bound & names_in(cell.source))):
            yield f"{cell.id} uses {', '.join(used)}, which needs the model: tag the cell {NEEDS_MODEL}, too"
    requested = [call.args[1].value for cell in lesson.code for call in calls(cell, "published_in_lesson")]
    if needing and requested != [lesson.name]:
        yield (
            f"cells are tagged {NEEDS_MODEL}, but published_in_lesson is called for {requested} "
            f"instead of [{lesson.name!r}]"
        )


RULES = [
    lesson_works_without_published_model,
    only_colab_and_experiment_are_skipped,
    code_cells_were_executed_in_order,
    no_cell_raised_or_warned,
    outputs_are_machine_independent,
    numbers_have_few_digits,
    pictures_are_transparent,
    pictures_are_not_blank,
    pictures_have_descriptions_as_plain_text,
]

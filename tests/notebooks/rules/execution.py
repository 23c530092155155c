"""A stored lesson was run from top to bottom without errors."""

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

SMALLEST_PICTURE = 100
UNCHECKED = re.compile(r"#\s*(?:NBVAL|PYTEST_VALIDATE)_\w+")
"""Comments that also make nbval skip cells or their outputs."""


def every_cell_is_run_except_colab_and_the_experiment(lesson: Lesson) -> Iterator[str]:
    left_out = [cell.id for cell in lesson.tagged(SKIP_TAG)]
    if left_out != [COLAB, "experiment"]:
        yield f"{', '.join(left_out)} are tagged {SKIP_TAG}; exactly {COLAB} and experiment should be"
    for cell in lesson.code:
        tags = {tag for tag in cell.metadata.get("tags", []) if tag.startswith("nbval-") or "exception" in tag}
        for marker in [*UNCHECKED.findall(cell.source), *sorted(tags - {"nbval-ignore-output"})]:
            yield f"{cell.id} is marked {marker}, so nbval would not run or check it"


def every_code_cell_was_run_in_order(lesson: Lesson) -> Iterator[str]:
    for number, cell in enumerate(lesson.code, start=1):
        if cell.execution_count is None:
            yield f"{cell.id} was never executed"
        elif cell.execution_count != number:
            yield f"{cell.id} was executed as number {cell.execution_count}, and is number {number}"


def nothing_went_wrong(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"{cell.id} raised {output.ename}: {output.evalue}"
            if output.get("name") == "stderr":
                yield f"{cell.id} wrote to stderr: {output.text}"


def nothing_belongs_to_one_machine(lesson: Lesson) -> Iterator[str]:
    """Output that differs between runs or machines would fail nbval, or teach nothing."""
    for cell in lesson.code:
        found = re.findall(
            r"\b0x[0-9a-f]{6,}|ipykernel_\d+|/home/\S+|/tmp/\S+", displayed(cell) + displayed(cell, "text/html")
        )
        yield from (f"{cell.id} shows {what}" for what in found)


def numbers_are_short(lesson: Lesson) -> Iterator[str]:
    """More digits differ between processors, and no one reads them."""
    for cell in lesson.code:
        if VARYING & {*cell.metadata.get("tags", [])}:
            continue
        for number in re.findall(r"\d+\.\d+", displayed(cell)):
            if len(number.replace(".", "").strip("0")) > 4:
                yield f"{cell.id} shows {number}: too many digits"
        if re.search(r"-0\.?0*(?![\d.])", displayed(cell)):
            yield f"{cell.id} shows a minus zero"
        for tensor in re.findall(r"tensor\(.*?\)", displayed(cell), re.DOTALL):
            if tensor.count(",") > 6:
                yield f"{cell.id} shows a raw tensor: {tensor[:40]}…"


def _pictures(lesson: Lesson) -> Iterator[tuple[str, NotebookNode, Image.Image]]:
    """Yield the cell's id, the output and the image of each picture in a lesson."""
    for cell in lesson.code:
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                yield cell.id, output, Image.open(BytesIO(b64decode(output.data["image/png"]))).convert("RGBA")


def pictures_are_transparent(lesson: Lesson) -> Iterator[str]:
    """Otherwise they would be white blocks in dark mode."""
    for cell, _, picture in _pictures(lesson):
        if picture.getpixel((0, 0))[3]:
            yield f"{cell} shows a picture that is not transparent"


def pictures_show_something(lesson: Lesson) -> Iterator[str]:
    """No other test compares pixels, because they differ between machines."""
    for cell, _, picture in _pictures(lesson):
        if min(picture.size) < SMALLEST_PICTURE or picture.getcolors(maxcolors=2) is not None:
            yield f"{cell} shows a picture of {picture.width} × {picture.height} pixels with next to nothing on it"


def pictures_have_their_words_as_plain_text(lesson: Lesson) -> Iterator[str]:
    """nbval compares this text of a picture."""
    for cell, output, _ in _pictures(lesson):
        words = output.data.get("text/plain", "<")
        if words.startswith("<") or words != output.metadata.get("image/png", {}).get("alt", words):
            yield f"{cell} shows a picture whose plain text is not its description: {words[:40]}"


def a_lesson_goes_on_without_a_published_model(lesson: Lesson) -> Iterator[str]:
    """Cells tagged ``published-model`` are replaced by their stored outputs if the model is not available."""
    needing = lesson.tagged(NEEDS_MODEL)
    bound = set[str]().union(*(names_bound(cell.source) for cell in needing))
    for cell in lesson.code:
        if cell not in needing and (used := sorted(bound & names_in(cell.source))):
            yield f"{cell.id} uses {', '.join(used)}, which there is only with the model: tag it {NEEDS_MODEL}, too"
    asked = [call.args[1].value for cell in lesson.code for call in calls(cell, "published_in_lesson")]
    if needing and asked != [lesson.name]:
        yield f"cells are tagged {NEEDS_MODEL}, and published_in_lesson is called for {asked}, not [{lesson.name!r}]"


RULES = [
    a_lesson_goes_on_without_a_published_model,
    every_cell_is_run_except_colab_and_the_experiment,
    every_code_cell_was_run_in_order,
    nothing_went_wrong,
    nothing_belongs_to_one_machine,
    numbers_are_short,
    pictures_are_transparent,
    pictures_show_something,
    pictures_have_their_words_as_plain_text,
]

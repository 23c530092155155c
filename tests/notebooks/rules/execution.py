"""A stored lesson has been run from top to bottom, and nothing went wrong."""

import re
from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO

from PIL import Image

from tests.notebooks.lesson import Lesson, shown


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
    """What differs between two runs or machines would fail nbval, or teach nothing."""
    for cell in lesson.code:
        found = re.findall(r"\b0x[0-9a-f]{6,}|ipykernel_\d+|/home/\S+|/tmp/\S+", shown(cell) + shown(cell, "text/html"))
        yield from (f"{cell.id} shows {what}" for what in found)


def numbers_are_short(lesson: Lesson) -> Iterator[str]:
    """Further digits differ between processors, and are not read."""
    for cell in lesson.code:
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            continue
        for number in re.findall(r"\d+\.\d+", shown(cell)):
            if len(number.replace(".", "").strip("0")) > 4:
                yield f"{cell.id} shows {number}: too many digits"
        if re.search(r"-0\.?0*(?![\d.])", shown(cell)):
            yield f"{cell.id} shows a minus zero"
        for tensor in re.findall(r"tensor\(.*?\)", shown(cell), re.DOTALL):
            if tensor.count(",") > 6:
                yield f"{cell.id} shows a raw tensor: {tensor[:40]}…"


def pictures_are_transparent(lesson: Lesson) -> Iterator[str]:
    """Else they would be white blocks in the dark."""
    for cell in lesson.code:
        pictures = [output.data["image/png"] for output in cell.outputs if "image/png" in output.get("data", {})]
        if any(Image.open(BytesIO(b64decode(png))).convert("RGBA").getpixel((0, 0))[3] for png in pictures):
            yield f"{cell.id} shows a picture that is not transparent"


RULES = [
    every_code_cell_was_run_in_order,
    nothing_went_wrong,
    nothing_belongs_to_one_machine,
    numbers_are_short,
    pictures_are_transparent,
]

"""Create lecture slides from a lesson: question, diagrams, predictions, formulas, summary and interview questions.

A deck is a page whose sections are slides. ``static/site.css`` makes each slide as large as the screen, and
``static/site.js`` moves between slides with the arrow keys. The slides omit the prose of the lesson, because the
lecturer presents its content.
"""

import base64
import html
import re
from collections.abc import Iterator, Mapping

from nbformat import NotebookNode

from authoring.interview_questions import questions_of
from authoring.lesson_text import section
from docs.site.lessons import alternative_text

LEFT_OUT = ("Before you start", "Bug hunt", "In short", "New words", "Interview questions", "What to read next")
"""Sections that are not part of a lecture or have separate slides."""


def index(lessons: Mapping[str, NotebookNode]) -> str:
    """Return the page that lists all slide decks."""
    names = "\n".join(lessons)
    return f"""# Slides

There is one deck for each lesson, with the lesson's question, diagrams, predictions, formulas and interview questions.
Use **→** and **←** to move between slides, and **F** for full screen. To create handouts, print the page. Answers are
collapsed. Before you open an answer, ask all students to predict the result.

```{{toctree}}
:maxdepth: 1

{names}
```
"""


def deck(name: str, book: NotebookNode) -> str:
    """Return the slides for a lesson, as a page in Markdown.

    Args:
        name: The lesson's name, such as ``01_lookup``.
        book: The stored lesson.
    """
    head = book.cells[0].source.split("\n\n")
    question = next((part for part in head if part.startswith("**The question.**")), "")
    slides = [f"{head[0]}\n\n<div class='deck'></div>\n\n{question}\n\n[The lesson](../notebooks/{name}.ipynb)"]
    heading, number = "", 0
    for i, cell in enumerate(book.cells):
        if cell.cell_type == "markdown":
            if found := re.search(r"^##+ (.+)$", cell.source, re.MULTILINE):
                heading = found[1]
            title = heading or ("To begin" if "**Predict.**" in cell.source else "")
            if title and not title.startswith(LEFT_OUT):
                slides += [f"## {title}\n\n{slide}" for slide in _of_text(cell.source, book.cells[i + 1 :])]
        elif cell.source.startswith("diagrams.") and not heading.startswith(LEFT_OUT):
            displayed = [_picture(f"{name}-{number + n}.png", output) for n, output in enumerate(_drawn(cell))]
            slides += [f"## {heading}\n\n{picture}" for picture in displayed] if heading else []
        number += len(list(_drawn(cell)))
    summary, *_ = section(book, "In short").strip().split("\n\n")
    slides.append(f"## In short\n\n{summary}")
    slides += [f"## Interview question\n\n{_without_links(question)}" for question in questions_of(book)]
    text = "\n\n".join(["---\nhtml_theme.sidebar_secondary.remove: true\n---", *_numbered(slides), ""])
    return re.sub(r"\]\((\w+\.ipynb)", r"](../notebooks/\1", text)


def pictures(name: str, book: NotebookNode) -> dict[str, bytes]:
    """Return all pictures in a lesson, keyed by the file names that its slides use."""
    drawn = [output for cell in book.cells for output in _drawn(cell)]
    return {f"{name}-{i}.png": base64.b64decode(output.data["image/png"]) for i, output in enumerate(drawn)}


def _of_text(source: str, following: list[NotebookNode]) -> Iterator[str]:
    """Yield the slides for a Markdown cell: its formulas, and its prediction with the collapsed answer."""
    yield from re.findall(r"\$\$.+?\$\$", source, re.DOTALL)
    if found := re.search(r"\*\*Predict\.\*\*.*", source, re.DOTALL):
        question = re.sub(r" ?Replace the `\.\.\.`[^.]*\.", "", found[0])
        answer = _measured(following)
        yield f"{question}\n\n<details><summary>Answer</summary>\n\n{answer}\n\n</details>" if answer else question


def _measured(following: list[NotebookNode]) -> str:
    """Return the measurement that is printed by the first following cell that checks a prediction."""
    for cell in following:
        if cell.cell_type == "code" and "compare(" in cell.source:
            lines = "".join(output.text for output in cell.outputs if output.output_type == "stream").splitlines()
            message = [line.removeprefix("you made no prediction, ") for line in lines if line.strip()]
            return "\n".join(f"<p>{html.escape(line)}</p>" for line in message)
    return ""


def _drawn(cell: NotebookNode) -> Iterator[NotebookNode]:
    return (output for output in cell.get("outputs", []) if "image/png" in output.get("data", {}))


def _picture(file: str, output: NotebookNode) -> str:
    words = re.sub(r"([\[\]\\*_`$<>])", r"\\\1", alternative_text(output))
    return f"![{words}]({file})"


def _without_links(question: str) -> str:
    """Remove citations such as ``(<i>heading</i>: …)``, which refer to sections of the lesson."""
    return re.sub(r"\s*\((?:<i>.*?)\)\s*(?=</details>)", "\n", question, flags=re.DOTALL)


def _numbered(slides: list[str]) -> list[str]:
    """Number repeated headings, because the headings of a page must be unique."""
    counts: dict[str, int] = {}
    numbered = []
    for slide in slides:
        heading, rest = slide.split("\n", 1)
        counts[heading] = counts.get(heading, 0) + 1
        numbered.append(f"{heading}{f' ({counts[heading]})' if counts[heading] > 1 else ''}\n{rest}")
    return numbered

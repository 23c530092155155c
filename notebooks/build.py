"""Build the lessons: execute each ``source/NN_word.py`` and write ``NN_word.ipynb`` next to this script.

    python notebooks/build.py                  build all lessons
    python notebooks/build.py 01_lookup        build one lesson
    python notebooks/build.py --check          write nothing; fail if a built lesson differs from the stored notebook
    python notebooks/build.py --text           store new text and metadata without running cells; fail if code changed

Every build also updates ``interview_questions.ipynb``, ``glossary.ipynb`` and ``page_to_keep.ipynb``, including its
PDF, from the sources of all lessons. To build only one of these, pass its name.

A stored cell is kept, including its pictures, if its source and text outputs are unchanged and no earlier code has
changed, unless a picture lacks its alternative text or its view's state. So a second build changes nothing, on any
machine. To render all pictures again, delete the notebook first.
"""

import argparse
import copy
import difflib
import html
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the authoring tools are not installed

from authoring import glossary, interview_questions
from authoring.page_to_keep import collection as page_to_keep
from notebooks.verdict_fold import folded
from transformer_course.exercises import LESSONS, NOTEBOOKS, exercises_of
from transformer_course.lesson_order import PRACTICE_BANK, PRACTICE_KEY, place
from transformer_course.views.view import STATE
from transformer_course.workspace.working_copies import COLAB as COLAB

FOLDER = Path(__file__).parent
COLLECTIONS = {
    "interview_questions": interview_questions.collect,
    "glossary": glossary.collect,
    "page_to_keep": page_to_keep.collect,
}
"""Notebooks whose contents are collected from the sources of all lessons."""
CELL_TIME_LIMIT_S = 600
COLAB_SOURCE = (
    'if "google.colab" in str(get_ipython()): '
    'get_ipython().run_line_magic("pip", "install -q transformer-course")  # only on Colab'
)
"""Source of the cell after the title, in lessons with an imports cell."""
SKIP_TAG = "skip-execution"
"""The tag with which nbclient and MyST-NB skip a cell."""
VARYING = {"nbval-ignore-output", "approximate", "words-only"}
"""Tags of cells whose outputs differ between machines. With the last two, nbval still compares the words."""
FOLD_TAG = "hide-input"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},  # without a version, which differs between machines
}
WIDGET = "application/vnd.jupyter.widget-view+json"
ENVIRONMENT = {
    "TRANSFORMER_LAB_CHECK_SHAPES": "1",
    "TRANSFORMER_LAB_STRICT": "0",
    "TRANSFORMER_LAB_PARTS": "",  # ignore exercises solved on this machine
    "OMP_NUM_THREADS": "1",
}


def read_source(path: Path) -> NotebookNode:
    """Read a lesson's source as a notebook that has not been executed.

    Every cell gets a stable id: the id in its marker or, without one, the section's name and the cell's number in the
    section. So a new cell changes only the ids of later cells in the same section. A cell for Colab is inserted after
    the title.

    Raises:
        ValueError: Two markers contain the same id.
    """
    return copy.deepcopy(_parsed(path.name, path.read_text(encoding="utf-8")))


@cache  # the collections and the tests read all sources many times
def _parsed(file: str, text: str) -> NotebookNode:
    lesson, book = Path(file).stem, jupytext.reads(text, fmt="py:percent")
    given = [cell.metadata["id"] for cell in book.cells if "id" in cell.metadata]
    if twice := sorted({name for name in given if given.count(name) > 1}):
        raise ValueError(f"{file}: more than one cell has the id {', '.join(twice)}")
    taken, section, number = set(given), "start", 0
    cells = []
    for cell in book.cells:
        if heading := cell.cell_type == "markdown" and re.search(r"^#+ (.+)$", cell.source, re.MULTILINE):
            section, number = _slug(heading[1]), 0
        name = cell.metadata.get("id")
        while name is None or (name in taken and "id" not in cell.metadata):
            number += 1
            name = section if number == 1 and heading else f"{section}-{number}"
        taken.add(name)
        tags: dict[str, Any] = {"tags": list(cell.metadata["tags"])} if cell.metadata.get("tags") else {}
        if FOLD_TAG in tags.get("tags", []):
            tags["jupyter"] = {"source_hidden": True}  # in JupyterLab; the tag folds it on the web
        new = {"source": cell.source, "id": name, "metadata": {**nbgrader_metadata(lesson, name), **tags}}
        is_code = cell.cell_type == "code"
        cells.append(nbformat.v4.new_code_cell(**new) if is_code else nbformat.v4.new_markdown_cell(**new))
    for before, cell in pairwise(cells):
        if cell.id in _names(lesson):
            heading = f"### Exercise: `{cell.id}`\n\n"  # for the tables of contents in JupyterLab and on the site
            before.source = re.sub(r"^\*\*Exercise\.\*\* ", heading, before.source, flags=re.MULTILINE)
    if "imports" in taken:
        tags = {"tags": [SKIP_TAG, "remove-cell"]}  # the second tag hides the cell on the web
        cells.insert(1, nbformat.v4.new_code_cell(COLAB_SOURCE, id=COLAB, metadata=tags))
    return nbformat.v4.new_notebook(cells=cells, metadata=METADATA)


def _names(lesson: str) -> set[str]:
    """Return the names of a notebook's exercises, which are also the ids of their cells."""
    return {exercise.name for exercise in exercises_of(lesson)} if lesson in NOTEBOOKS else set()


def nbgrader_metadata(lesson: str, cell: str) -> dict[str, Any]:
    """Return a cell's metadata for nbgrader, in which the check of an exercise is a test with points.

    In nbgrader, a test fails if it raises an exception, so a check raises one when nbgrader runs it. Stretch exercises
    get no points, because nbgrader does not support a bonus.
    """
    points = (
        {f"check-{e.name}": 0 if e.stretch else e.points for e in exercises_of(lesson)} if lesson in LESSONS else {}
    )
    if cell not in points:
        return {}
    kind = {"grade": True, "solution": False, "task": False, "locked": True, "schema_version": 3}
    return {"nbgrader": {**kind, "cell_type": "code", "grade_id": cell, "points": points[cell]}}


def execute(book: NotebookNode, folder: Path = FOLDER, environment: Mapping[str, str] | None = None) -> NotebookNode:
    """Run all cells of a notebook in order, in a fresh kernel of the current Python, and store their outputs.

    For a widget, only its still picture and its description are stored, because a widget does not outlive its kernel.

    Args:
        book: The notebook, which is changed in place.
        folder: The kernel's working directory.
        environment: Variables to set in addition to ``ENVIRONMENT``.

    Raises:
        CellExecutionError: A cell raised an exception, which is part of the message.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}  # use inline pictures
    # Without kernel folders, the only kernel available is the kernel of the running interpreter.
    kernel = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    client = NotebookClient(
        book,
        km=kernel,
        timeout=CELL_TIME_LIMIT_S,
        extra_arguments=["--log-level=ERROR"],
        coalesce_streams=True,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(cleanup_kc=True, env={**inherited, **ENVIRONMENT, **(environment or {})})
    for cell in book.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
            output.get("metadata", {}).pop("needs_background", None)  # pictures look right on any background
    book.metadata = nbformat.from_dict(METADATA)
    return book


def differences(new: NotebookNode, old: NotebookNode) -> Iterator[str]:
    """Yield differences between two notebooks in ids, order, sources, metadata and text outputs, but not pictures."""
    ids = [[cell.id for cell in book.cells] for book in (old, new)]
    yield from (f"cells: {line}" for line in _changes(*ids))
    stored = {cell.id: cell for cell in old.cells}
    for cell in new.cells:
        if cell.id in stored:
            before, after = comparable(stored[cell.id]), comparable(cell)
            for part in after:
                yield from (f"{part} of {cell.id}: {line}" for line in _changes(before[part], after[part]))


def comparable(cell: NotebookNode) -> dict[str, list[str]]:
    """Return the parts of a cell that must be the same on every machine, as lists of lines."""
    tags = list(cell.metadata.get("tags", []))
    outputs = [] if VARYING & {*tags} else [line for o in cell.get("outputs", []) for line in text_of(o)]
    pictures = [o.metadata for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
    return {
        "kind": [cell.cell_type, f"run {cell.get('execution_count')}"],
        "tags": tags,
        "nbgrader": [f"{key}: {value}" for key, value in sorted(cell.metadata.get("nbgrader", {}).items())],
        "source": cell.source.splitlines(),
        "output": outputs,
        "alternative texts": [
            f"picture {n} has one" for n, m in enumerate(pictures, 1) if m.get("image/png", {}).get("alt")
        ],
        "states of views": [f"picture {n} has one" for n, m in enumerate(pictures, 1) if STATE in m],
    }


def text_of(output: Mapping[str, Any]) -> list[str]:
    """Return the lines of an output, without its pictures."""
    if output["output_type"] == "stream":
        return [f"{output['name']}: {line}" for line in output["text"].splitlines()]
    if output["output_type"] == "error":
        return [f"error: {output['ename']}: {output['evalue']}"]
    displayed = {kind: data for kind, data in output["data"].items() if not kind.startswith("image/")}
    return [f"{kind}: {line}" for kind in sorted(displayed) for line in str(displayed[kind]).splitlines()]


def keep_unchanged_cells(new: NotebookNode, old: NotebookNode) -> NotebookNode:
    """Replace each new cell by the stored cell if they differ at most in pictures and no earlier code has changed.

    After changed code, all cells stay new, because pictures and outputs that nbval ignores may show its effect.
    """
    stored, code_before = {cell.id: cell for cell in old.cells}, [cell.source for cell in old.cells if _is_run(cell)]
    cells, code = [], list[str]()
    for cell in new.cells:
        code += [cell.source] if _is_run(cell) else []
        is_same = cell.id in stored and comparable(stored[cell.id]) == comparable(cell)
        cells.append(stored[cell.id] if is_same and code == code_before[: len(code)] else cell)
    new.cells = cells
    return new


def with_stored_outputs(new: NotebookNode, old: NotebookNode) -> NotebookNode:
    """Copy the stored outputs to the cells of a notebook that was not executed.

    Raises:
        ValueError: The code has changed, so the outputs may be different.
    """
    before = [cell for cell in old.cells if _is_run(cell)]
    after = [cell for cell in new.cells if _is_run(cell)]
    if changes := _changes([cell.source for cell in before], [cell.source for cell in after]):
        raise ValueError(f"the code has changed, so build the lesson without --text:\n{changes[0]}")
    for cell, stored in zip(after, before, strict=True):
        cell.outputs, cell.execution_count = stored.outputs, stored.execution_count
    return new


def fold_verdicts(book: NotebookNode) -> None:
    """Fold the verdict below each bug hunt, so that readers of the stored lesson can look for the bug first."""
    is_hunt = False
    for cell in book.cells:
        is_hunt |= "bug-hunt" in cell.metadata.get("tags", [])
        if is_hunt and cell.cell_type == "code" and re.match(r"(check|review)\(", cell.source):
            is_hunt = False
            cell.outputs = [_with_folded_html(output) for output in cell.outputs]


def _with_folded_html(output: NotebookNode) -> NotebookNode:
    """Return a folded output; printed text is converted to HTML, because a stream cannot be folded."""
    if output.output_type == "stream":
        text = output.text.rstrip("\n")
        data = {"text/plain": text, "text/html": folded(f"<pre>{html.escape(text)}</pre>")}
        return nbformat.v4.new_output("display_data", data)
    if "text/html" in output.get("data", {}):
        output.data["text/html"] = folded(output.data["text/html"])
    return output


def build(name: str, check: bool = False, folder: Path = FOLDER, run: bool = True) -> list[str]:
    """Build one lesson, or a collection from all of them.

    Args:
        name: The name of the lesson or collection, such as ``01_lookup`` or ``glossary``.
        check: Whether to leave the stored notebook unchanged.
        folder: The folder of the notebooks, whose subfolder ``source`` contains the sources.
        run: Whether to execute a lesson; if False, the stored outputs are kept.

    Returns:
        The differences between the new and the stored notebook.

    Raises:
        ValueError: ``run`` is False, but the code has changed.
    """
    path = folder / f"{name}.ipynb"
    old = _stored(path)
    if name in COLLECTIONS:
        new = collection(name, folder)
    else:
        lesson = read_source(_source(name, folder))
        new = execute(lesson, folder) if run else with_stored_outputs(lesson, old)
        fold_verdicts(new)
        if name == PRACTICE_BANK:
            new.metadata[PRACTICE_KEY] = True  # so that the grader skips the practice bank even if it was renamed
    changes = list(differences(new, old))
    if not check:
        text = nbformat.writes(keep_unchanged_cells(new, old)) + "\n"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
        if name == "page_to_keep":
            (folder / page_to_keep.DOCUMENT_FILE).write_bytes(page_to_keep.document())
    return changes


def collection(name: str, folder: Path = FOLDER) -> NotebookNode:
    """Build a collection from the sources of all lessons, without running any cells."""
    book = COLLECTIONS[name](sources(folder))
    book.metadata = nbformat.from_dict(METADATA)
    return book


def lessons(folder: Path = FOLDER) -> list[str]:
    """Return the names of all lessons that have a source, in reading order, without the practice bank."""
    names = {path.stem for path in (folder / "source").glob("*.py")}
    return sorted(names - {PRACTICE_BANK}, key=place)


def sources(folder: Path) -> dict[str, NotebookNode]:
    """Read the sources of all lessons, in reading order."""
    return {name: read_source(_source(name, folder)) for name in lessons(folder)}


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Build or check the lessons named on the command line, and return 0 on success."""
    parser = argparse.ArgumentParser(description="Build the lessons from their sources.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="lesson or collection to build, such as 01_lookup (default: all)"
    )
    buildable = [*lessons(folder), *(path.stem for path in (folder / "source").glob(f"{PRACTICE_BANK}.py"))]
    parser.add_argument(
        "--check", action="store_true", help="check whether a notebook would change, without writing anything"
    )
    parser.add_argument(
        "--text", action="store_true", help="keep the stored outputs, and exit with an error if code has changed"
    )
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - {*buildable, *COLLECTIONS}):
        parser.error(f"no source for {', '.join(unknown)}; the lessons are {', '.join(buildable)}")
    failed, names = False, options.names or buildable
    for name in dict.fromkeys(names if set(names) <= COLLECTIONS.keys() else [*names, *COLLECTIONS]):
        try:
            changes = build(name, options.check, folder, run=not options.text)
        except (CellExecutionError, DeadKernelError, TimeoutError, ValueError) as error:
            print(f"{name}: not built.\n{error}", file=sys.stderr)
            failed = True
            continue
        print(f"{name}: {'differs' if changes and options.check else 'changed' if changes else 'unchanged'}")
        print("".join(f"  {line}\n" for line in changes), end="")
        failed |= options.check and bool(changes)
    return int(failed)


def _is_run(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and SKIP_TAG not in cell.metadata.get("tags", [])


def _source(name: str, folder: Path) -> Path:
    return folder / "source" / f"{name}.py"


def _stored(path: Path) -> NotebookNode:
    """Return the stored notebook, or an empty notebook if it is missing or contains merge conflicts."""
    try:
        return nbformat.read(path, as_version=4)
    except (FileNotFoundError, ValueError):
        return nbformat.v4.new_notebook()


def _slug(heading: str) -> str:
    """Turn a heading into a short cell id, which may have at most 64 characters."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")[:50].strip("-") or "section"


def _changes(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the removed (-) and added (+) lines."""
    return [line for line in difflib.ndiff(before, after) if line[0] in "+-"]


if __name__ == "__main__":
    sys.exit(main())

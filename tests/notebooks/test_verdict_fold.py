"""Tests for collapsing the stored verdicts of bug hunts."""

import nbformat

from notebooks.build import fold_verdicts
from notebooks.verdict_fold import folded, without_fold

VERDICT = "<div>softmax: not right yet</div>"


def test_folds_only_the_verdict_below_a_bug_hunt() -> None:
    def code(source: str, *tags: str) -> nbformat.NotebookNode:
        output = nbformat.v4.new_output("display_data", {"text/html": VERDICT})
        return nbformat.v4.new_code_cell(source, metadata={"tags": [*tags]}, outputs=[output])

    sources = ["check(softmax)", "mended = broken", 'check(mended, "softmax", save=False)', "review(Mended)"]
    book = nbformat.v4.new_notebook(cells=[code("def broken(): ...", "bug-hunt"), *map(code, sources[1:])])
    book.cells.insert(0, code(sources[0]))
    for _ in range(2):  # the second iteration must change nothing
        fold_verdicts(book)
        displayed = [cell.outputs[0].data["text/html"] for cell in book.cells]
        assert displayed == [VERDICT, VERDICT, VERDICT, folded(VERDICT), VERDICT]


def test_returns_original_html_if_nothing_is_folded() -> None:
    assert without_fold(folded(VERDICT)) == without_fold(VERDICT) == VERDICT
    assert folded(folded(VERDICT)) == folded(VERDICT)

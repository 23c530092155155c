"""Test that lessons on the site have collapsed answers and complete outputs."""

import json
import re

import nbformat
import pytest
from nbformat import NotebookNode

from docs.site.lessons import FIND_FIRST, FOLDED, NOT_STARTED, PREDICT_FIRST, fold_answers, for_reading, how_to_run
from docs.site.repository import Repository
from transformer_course.exercises import every_exercise
from transformer_course.views import MaskPainter
from transformer_course.views.view import STATE, View


def code(source: str, *tags: str, outputs: tuple[NotebookNode, ...] = ()) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)} if tags else {}, outputs=list(outputs))


def live(view: View) -> NotebookNode:
    drawn = displayed(png="AA==", text=view.words())
    drawn.metadata = nbformat.from_dict({STATE: view.stored()})
    return drawn


def displayed(**data: str) -> NotebookNode:
    kinds = {"text": "text/plain", "png": "image/png", "widget": "application/vnd.jupyter.widget-view+json"}
    return nbformat.v4.new_output("display_data", {kinds[kind]: value for kind, value in data.items()})


def test_collapses_only_outputs_between_prediction_and_answer() -> None:
    cells = [
        code("x = 1"),
        code("prediction = ...", "prediction"),
        nbformat.v4.new_markdown_cell("Run it."),
        code("def helper(): ...", "nbval-ignore-output"),
        code("compare(prediction, measured=helper())"),
        code("print('later')"),
        code("def wrong(): ...", "bug-hunt"),
        code("check(wrong, 'right')"),
        code("check(other)"),
        code("class Wrong: ...", "bug-hunt"),
        code("review(Wrong)"),
        code("print('later')"),
    ]
    fold_answers(cells)
    labels = [cell.metadata.get("mystnb", {}).get("code_prompt_show") for cell in cells]
    prediction = [PREDICT_FIRST, None, PREDICT_FIRST, PREDICT_FIRST, None]
    assert labels == [None, *prediction, FIND_FIRST, FIND_FIRST, None, FIND_FIRST, FIND_FIRST, None]
    assert [FOLDED in cell.metadata.get("tags", []) for cell in cells] == [label is not None for label in labels]
    assert cells[3].metadata["tags"][0] == "nbval-ignore-output"


def test_picture_gets_alternative_text_from_itself_or_output() -> None:
    drawn = displayed(png="AA==", text="<Figure size 600x320>")
    drawn.metadata = nbformat.from_dict({"image/png": {"alt": "Plot: loss by step.", "width": 40}})
    view = displayed(png="AA==", text="Coin: heads with\nprobability 0.50.", widget="{}")
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("# 01"), code("draw()", outputs=(drawn,)), code("coin", outputs=(view,))]
    )
    *_, plot, coin = for_reading("01_word", book, None).cells
    assert plot.metadata["mystnb"]["image"] == {"alt": "Plot: loss by step.", "width": "40px"}
    assert coin.metadata["mystnb"]["image"] == {"alt": "Coin: heads with probability 0.50."}
    assert list(coin.outputs[0].data) == ["image/png", "text/plain"], (
        "the site must keep only the still picture of a widget"
    )
    assert len(book.cells[2].outputs[0].data) == 3, "the stored lesson must not change"


def test_view_state_follows_picture_with_escaped_tokens() -> None:
    cell = code("view", outputs=(live(MaskPainter(["a", "</script>"])),))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# 01"), cell])
    picture, state = for_reading("01_word", book, None).cells[-1].outputs
    assert "image/png" in picture.data
    [found] = re.findall(r'^<script type="application/json" class="live-view">(.*)</script>$', state.data["text/html"])
    assert json.loads(found)["view"] == "mask_painter"
    assert json.loads(found)["traits"]["tokens"] == ["a", "</script>"]
    assert "</" not in found


def test_published_lesson_has_no_link_to_saved_page(books: dict[str, NotebookNode]) -> None:
    book = books["14_post_training"]
    stored, published = (json.dumps(one.cells) for one in (book, for_reading("14_post_training", book, None)))
    assert 'href=\\"my_transformer.html' in stored and 'href=\\"my_transformer.html' not in published
    assert published.count("<iframe") == stored.count("<iframe") > 0


@pytest.mark.parametrize("repository", [None, Repository("owner/course")])
def test_lesson_links_to_run_guide_colab_and_binder(repository: Repository | None) -> None:
    line = how_to_run("01_lookup", repository)
    assert "(../docs/run.md)" in line
    for address in (
        "https://colab.research.google.com/github/owner/course/blob/main/notebooks/01_lookup.ipynb",
        "https://mybinder.org/v2/gh/owner/course/main?urlpath=lab/tree/01_lookup.ipynb",
    ):
        assert (address in line) == (repository is not None)


def test_stored_lessons_show_no_answers(books: dict[str, NotebookNode]) -> None:
    names = every_exercise()
    for name, book in books.items():
        for cell in for_reading(name, book, None).cells:
            if cell.cell_type != "code" or FOLDED in cell.metadata.get("tags", []):
                continue
            text = "\n".join(
                output.get("data", {}).get("text/plain", output.get("text", "")) for output in cell.outputs
            )
            assert "you made no prediction" not in text, (name, cell.id)
            assert "a known mistake" not in text, (name, cell.id)
            assert NOT_STARTED not in text, (name, cell.id)
            if cell.id in names:
                assert cell.source.endswith("raise NotImplementedError"), (name, cell.id)

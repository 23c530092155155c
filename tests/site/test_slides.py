"""Test that a slide deck contains the parts of its lesson that a lecture needs."""

import re

from nbformat import NotebookNode

from authoring.interview_questions import questions_of
from docs.site import slides
from docs.site.lessons import alternative_text


def test_deck_contains_all_predictions_diagrams_and_questions(books: dict[str, NotebookNode]) -> None:
    for name, book in books.items():
        deck = slides.deck(name, book)
        prose = [cell.source for cell in book.cells if cell.cell_type == "markdown"]
        assert deck.count("**Predict.**") == sum("**Predict.**" in source for source in prose), name
        assert deck.count("## Interview question") == len(questions_of(book)), name
        files = slides.pictures(name, book)
        linked = re.findall(r"\]\(([\w-]+\.png)\)", deck)
        assert set(linked) <= set(files), name
        drawn = [cell for cell in book.cells if cell.source.startswith("diagrams.") and cell.get("outputs")]
        # The lesson map and the bug hunt's diagram are not on slides.
        assert len(linked) == len(set(linked)) and len(drawn) - 2 <= len(linked) <= len(drawn), name


def test_slides_preserve_alternative_text(books: dict[str, NotebookNode]) -> None:
    book = books["01_lookup"]
    arrows = next(cell for cell in book.cells if "diagrams.lookup.arrows" in cell.source)
    plain = re.sub(r"\\(.)", r"\1", slides.deck("01_lookup", book))
    assert re.search(rf"!\[{re.escape(alternative_text(arrows.outputs[0]))}\]\(01_lookup-\d+\.png\)", plain)


def test_answers_are_collapsed(books: dict[str, NotebookNode]) -> None:
    deck = slides.deck("01_lookup", books["01_lookup"])
    outside = re.sub(r"<details>.*?</details>", "", deck, flags=re.DOTALL)
    assert "measured 8" in deck and "measured 8" not in outside
    assert "arXiv" not in deck, "the further reading must not appear on a slide"

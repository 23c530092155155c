"""Tests that each formula has a unique name and comes from the lesson that defines its term."""

from authoring.glossary import terms_of
from authoring.page_to_keep.formulas import FORMULAS
from notebooks.build import FOLDER, sources
from transformer_course.exercises import LESSONS


def test_formula_comes_after_lesson_that_defines_term():
    homes = {term.name: name for name, book in sources(FOLDER).items() for term in terms_of(book)}
    order = ["primer", *LESSONS]
    numbered = {int(name[:2]): i for i, name in enumerate(order) if name[0].isdigit()}
    known = [formula for formula in FORMULAS if formula.name in homes]
    assert len(known) > 12
    for formula in known:
        next_lesson = numbered.get(formula.lesson + 1, len(order))
        assert order.index(homes[formula.name]) < next_lesson, formula.name


def test_formulas_have_unique_names():
    assert len({formula.name for formula in FORMULAS}) == len(FORMULAS)

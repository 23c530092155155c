"""The formulas: each once, and none before the lesson that teaches its term."""

from authoring.glossary import terms_of
from authoring.page_to_keep.formulas import FORMULAS
from notebooks.build import FOLDER, sources


def test_no_formula_stands_under_an_earlier_lesson_than_its_term():
    homes = {term.name: name[:2] for name, book in sources(FOLDER).items() for term in terms_of(book)}
    known = [formula for formula in FORMULAS if formula.name in homes]
    assert len(known) > 12
    for formula in known:
        assert homes[formula.name] == "pr" or int(homes[formula.name]) <= formula.lesson, formula.name


def test_every_formula_has_a_name_of_its_own():
    assert len({formula.name for formula in FORMULAS}) == len(FORMULAS)

from dataclasses import replace

from transformer_course.grading.incoming.written_answers import WrittenAnswer
from transformer_course.grading.reports.written_page import mark, written_answers_page

ADA = WrittenAnswer("01_lookup", "why", "ada", "<b>Because</b>\n# so.", of=3.0, rubric="One `reason`.")


def test_each_question_shows_all_answers_and_its_rubric():
    other = replace(ADA, question="how", student="ben", rubric="")
    ben = replace(ADA, student="ben", points=2.5, comment="Good.", note="It has changed.")
    page = written_answers_page([ben, other, ADA])
    order = [
        "how</h2>",
        "why</h2>",
        "One <code>reason</code>.",
        "<h3>ada (not",
        "<h3>ben (2.5 of 3)",
        "It has changed.",
    ]
    assert [page.index(part) for part in order] == sorted(page.index(part) for part in order)
    assert page.count("Criteria") == 1 and "<b>Because" not in page and "1 of 2 answers have no points yet." in page


def test_mark_shows_the_maximum():
    assert mark(ADA) == "not marked yet, maximum 3" and mark(replace(ADA, of=None)) == "not marked yet"
    assert mark(replace(ADA, points=2.0)) == "2 of 3" and mark(replace(ADA, points=2.0, of=None)) == "2"

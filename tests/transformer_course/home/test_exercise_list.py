"""Tests for topics, minutes and search terms in the list of all exercises."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from transformer_course.home.exercise_list import first_sentence, listed_exercises
from transformer_course.home.lesson_outline import read_outlines
from transformer_course.lesson_folder import published_lessons

STUB = '''def {}(x):
    """Rotate ``x``.

    More.
    """
    raise NotImplementedError'''


def exercise(name):
    return new_code_cell(STUB.format(name), id=name, metadata={"tags": ["exercise"]})


def check(name, points):
    return new_code_cell(f"check({name})", id=f"check-{name}", metadata={"nbgrader": {"points": points}})


@pytest.fixture(scope="module")
def course():
    return {each.name: each for outline in read_outlines(published_lessons()) for each in outline.listed}


def test_lists_topic_summary_terms_and_minutes():
    cells = [
        new_markdown_cell("## Heads\n\nSee **RoPE**.", id="heads"),
        exercise("one"),
        check("one", 1),
        new_markdown_cell("## Turn\n\n**Rotary** (**RoPE**; 2021), $ABC$.", id="turn"),
        new_markdown_cell("### Exercise: `two`", id="two-heading"),
        exercise("two"),
        check("two", 3),
        new_markdown_cell("## ★ Transfer: windows", id="windows"),
        exercise("three"),
        check("three", 0),
    ]
    one, two, three = listed_exercises(cells, minutes=30)
    assert (two.name, two.topic, two.summary, two.terms) == ("two", "Turn", "Rotate x.", ("RoPE",))
    assert [each.minutes for each in (one, two, three)] == [5, 15, 10]
    assert [each.heading_cell for each in (one, two, three)] == ["heads", "two-heading", "windows"]
    assert (three.topic, three.is_stretch, one.is_stretch) == ("Windows", True, False)


def test_starred_topic_initials_become_a_search_term():
    cells = [new_markdown_cell("## ★ Grouped query attention", id="grouped"), exercise("one"), check("one", 0)]
    assert listed_exercises(cells, minutes=10)[0].terms == ("GQA",)


def test_summary_is_plain_text():
    assert first_sentence('def one(x):\n    """Rotate `x` by ``angle``."""') == "Rotate x by angle."


def test_stub_without_docstring_has_no_summary():
    assert first_sentence("def one(): raise NotImplementedError") == ""


@pytest.mark.parametrize(
    ("term", "name"),
    [
        ("rope", "apply_rotary"),
        ("gqa", "GroupedQueryAttention"),
        ("lora", "LoRALinear"),
        ("dpo", "dpo_loss"),
        ("moe", "route"),
        ("mla", "latent_attention"),
        ("alibi", "alibi_bias"),
        ("rmsnorm", "rms_norm"),
        ("grpo", "grpo_loss"),
        ("kv cache", "attend_with_cache"),
        ("bpe", "merge"),
        ("adam", "adamw_step"),
        ("mtp", "multi_token_loss"),
        ("gae", "gae"),
        ("int8", "quantize_per_channel"),
    ],
)
def test_search_text_contains_the_usual_term(course, term, name):
    assert term in course[name].search_text


def test_exercise_minutes_sum_to_the_lesson_total():
    for outline in read_outlines(published_lessons()):
        total = sum(each.minutes for each in outline.listed)
        assert abs(total - outline.exercise_minutes) <= len(outline.listed) / 2, outline.name

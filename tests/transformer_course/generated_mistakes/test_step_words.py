"""Tests that the nouns and imperatives of steps make sense without context."""

import re

import pytest

from tests.transformer_course.generated_mistakes.answer import STEPS
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.step_words import StepWords, is_plural, tidy, without_explanation
from transformer_course.steps import InSteps


def test_nouns_are_short():
    words = StepWords(STEPS)
    assert [words.noun(name) for name in ("shares", "total", "rows", "unknown")] == [
        "the shares",
        "the sum of the weights",
        "`rows`",
        "",
    ]


def test_nouns_and_imperatives_make_sense_alone():
    def width(queries):
        """read the width → the number of features of each query → d_k"""
        return queries.shape[-1]

    def root(width):
        """take its root → the square root of the number of features"""
        return width**0.5

    def finished(root):
        """ask that → whether it is large"""
        return root > 2 and width

    words = StepWords(InSteps(width, root, finished, reference=lambda queries: 1))
    assert words.noun("width") == "d_k"
    assert words.imperative("root") == "take the square root of d_k"
    assert words.noun("finished") == "the result of working out whether it is large"


def test_plural_depends_on_head_of_noun_phrase():
    assert all(
        is_plural(noun)
        for noun in (
            "the shares",
            "the `rank` numbers",
            "the weights on a diagonal",
            "the products of queries and keys",
            "all the p_i p_j",
            "the products p_i p_j",
            "the products divided by √d_k",
        )
    )
    assert not any(
        is_plural(noun)
        for noun in (
            "what `w_q` makes of x",
            "the sum of the weights",
            "the mean",
            "the last axis",
            "the bias",
            "the loss averaged over the masked tokens",
        )
    )


@pytest.mark.parametrize("name", every_exercise())
def test_exercise_nouns_are_complete_phrases(name):
    steps = every_exercise()[name].steps
    for step in steps.steps if steps else ():
        noun = without_explanation(steps.noun(step))
        assert not noun.startswith("where "), noun
        assert not re.search(r" (?:of shape|of|a|the|with|as)$", noun), noun


def test_tidies_filled_templates():
    assert tidy("you use  -1,. `x[-1]` is") == "you use −1. `x[-1]` is"

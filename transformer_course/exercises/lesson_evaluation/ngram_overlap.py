"""Measure how many of a text's n-grams occur in another text, to find duplicates and leaked questions."""

import torch

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def ngram_overlap(words: list[str], others: list[str], n: int) -> float:
    """Return the fraction of a text's n-grams that also occur in another text, or 0 if the text has no n-grams."""
    ngrams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    known = {tuple(others[i : i + n]) for i in range(len(others) - n + 1)}
    return sum(ngram in known for ngram in ngrams) / len(ngrams) if ngrams else 0.0


def ngrams(words, n):
    """list the n-grams of the text → the n-grams of the text: n neighboring words each"""
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def known(others, n):
    """collect the n-grams of the other text → the n-grams of the other text"""
    return {tuple(others[i : i + n]) for i in range(len(others) - n + 1)}


def n_found(ngrams, known):
    """count the n-grams that occur in the other text → the number of n-grams found"""
    return sum(ngram in known for ngram in ngrams)


def n_all(ngrams):
    """count all n-grams of the text → the number of n-grams of the text"""
    return len(ngrams)


def overlap(n_found, n_all):
    """divide the number found by the number of n-grams → the overlap: the fraction found, or 0"""
    return n_found / n_all if n_all else 0.0


STEPS = InSteps(ngrams, known, n_found, n_all, overlap, reference=ngram_overlap)


def ngram_overlap_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def drawn(length, n_words=9):
        return [f"w{i}" for i in torch.randint(n_words, (length,), generator=rng).tolist()]

    def case(words, others, n, shows):
        return Case({"words": words, "others": others, "n": n}, shows)

    text = drawn(41, 30)
    return [
        case(["the", "cat", "sat"], ["the", "cat", "ran"], 2, "one of two pairs"),
        case(["the", "cat", "sat"], ["the", "cat", "ran", "home"], 1, "single words"),
        case(["a", "b", "a", "b", "c"], ["b", "a", "b"], 2, "a pair that occurs twice"),
        case(["a", "b", "c", "d"], ["d", "c", "b", "a"], 2, "the same words in reverse order"),
        case(["a", "b"], ["a", "b", "c"], 3, "a text with fewer words than an n-gram"),
        case(["a", "b", "c"], ["a", "b"], 3, "another text with fewer words than an n-gram"),
        case(["a", "b", "c"], ["x", "a", "b", "c", "y"], 3, "a text that is exactly one n-gram"),
        case(text, [*drawn(20), *text[5:31], *drawn(7)], 4, "41 words, part of which was copied"),
        case(drawn(300), drawn(200), 3, "300 words"),
    ]


MISTAKES = [
    Mistake(
        "each_ngram_once",
        STEPS.but(ngrams=lambda words, n: {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}),
        summary="you count each different n-gram of the text once",
        message=(
            "{summary}, so a passage that occurs twice in the text counts once. The result should be the fraction of "
            "*all* its n-grams. Which collection keeps duplicates?"
        ),
        hints=["In `a b a b c`, how often does the pair `a b` occur, and how often do you count it?"],
    ),
    Mistake(
        "ngrams_side_by_side",
        STEPS.but(
            ngrams=lambda words, n: [tuple(words[i : i + n]) for i in range(0, len(words) - n + 1, n)],
            known=lambda others, n: {tuple(others[i : i + n]) for i in range(0, len(others) - n + 1, n)},
        ),
        STEPS.but(ngrams=lambda words, n: [tuple(words[i : i + n]) for i in range(0, len(words) - n + 1, n)]),
        STEPS.but(known=lambda others, n: {tuple(others[i : i + n]) for i in range(0, len(others) - n + 1, n)}),
        summary="you cut a text into pieces of n words that don't overlap",
        message=(
            "{summary}, so an extra word at the beginning would shift all of these pieces. At which words does an "
            "n-gram begin?"
        ),
        hints=["Which pairs does `the cat sat` have?"],
    ),
    Mistake(
        "misses_the_last",
        STEPS.but(
            ngrams=lambda words, n: [tuple(words[i : i + n]) for i in range(len(words) - n)],
            known=lambda others, n: {tuple(others[i : i + n]) for i in range(len(others) - n)},
        ),
        STEPS.but(ngrams=lambda words, n: [tuple(words[i : i + n]) for i in range(len(words) - n)]),
        STEPS.but(known=lambda others, n: {tuple(others[i : i + n]) for i in range(len(others) - n)}),
        summary="you leave out the last n-gram of a text",
        message="{summary}, as `range(len(words) - n)` does. How many pairs does a text of 3 words have?",
        hints=["At which index does the last pair of `the cat sat` begin?"],
    ),
    Mistake(
        "short_ngrams_at_the_end",
        STEPS.but(
            ngrams=lambda words, n: [tuple(words[i : i + n]) for i in range(len(words))],
            known=lambda others, n: {tuple(others[i : i + n]) for i in range(len(others))},
        ),
        STEPS.but(ngrams=lambda words, n: [tuple(words[i : i + n]) for i in range(len(words))]),
        summary="you let n-grams at the end of a text have fewer than n words",
        message=(
            "{summary}. At the end, `words[i : i + n]` is shorter, so a single word can count as a match. What is the "
            "last index at which an n-gram begins?"
        ),
        hints=["How many words does `words[i : i + n]` have for the last `i`?"],
    ),
]


EXERCISE = Exercise(
    reference=ngram_overlap,
    steps=STEPS,
    cases=ngram_overlap_cases,
    points=2,
    stretch=True,
    verified="You find copied passages wherever they begin, and a text that is too short has an overlap of 0.",
    hints=[
        "Which pairs of neighboring words does `the cat sat` have? Which of them occur in `the cat ran`?",
        "An n-gram begins at every word that has n − 1 words after it. Tuples can be put into a set, lists cannot.",
        "`[tuple(words[i : i + n]) for i in range(len(words) - n + 1)]` lists the n-grams of a text.",
        "Count the n-grams of the text that are in the set of the other text's n-grams, and divide by the number of "
        "n-grams of the text, unless that number is 0.",
    ],
    mistakes=MISTAKES,
)

"""Tests for detecting copies, including disguised copies, but not independent answers or code from the course."""

import inspect
import itertools
import re
import textwrap
from collections.abc import Mapping
from functools import cache

import pytest

from tests.transformer_course.exercises.test_alternative_answers import UNUSUAL
from tests.transformer_course.exercises.test_references import INDEPENDENT
from tests.transformer_course.sandbox.sample_submissions import RIGHT, cells
from transformer_course.exercises import LESSONS, exercises_of
from transformer_course.grading.judging.answer_similarity import (
    MIN_SIMILARITY,
    MIN_TOKEN_RUNS,
    answer_text,
    fingerprint,
    is_course_solution,
    similar_pairs,
    similarity,
)

VERBOSE = {
    "softmax": '''
def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights."""
    biggest, _ = torch.max(scores, dim=-1)
    biggest = biggest.reshape(*biggest.shape, 1)
    powers = torch.exp(scores - biggest)
    sums = torch.sum(powers, dim=-1)
    sums = sums.reshape(*sums.shape, 1)
    if torch.any(sums == 0):
        return torch.zeros_like(scores)
    return torch.div(powers, sums)
''',
    "attention": """
def attention(queries, keys, values):
    products = []
    for index in range(keys.shape[-2]):
        products.append((queries * keys[..., index, :].unsqueeze(-2)).sum(dim=-1))
    probabilities = softmax(torch.stack(products, dim=-1))
    mixed = torch.zeros_like(queries @ queries.mT @ values)
    for index in range(values.shape[-2]):
        mixed = mixed + probabilities[..., index].unsqueeze(-1) * values[..., index, :].unsqueeze(-2)
    return mixed
""",
}


def renamed(source: str) -> str:
    """Disguise a copy by renaming variables, adding comments, changing the docstring, and splitting lines."""
    names = {"biggest": "m", "powers": "e", "sums": "total", "index": "i", "products": "s", "mixed": "out"}
    for old, new in names.items():
        source = re.sub(rf"\b{old}\b", new, source)
    source = source.replace('"""Turn scores into weights."""', '"""My own idea."""')
    return (
        source.replace("(", "(  # mine\n        ", 1) if "def" not in source.partition("(")[0] else f"# mine\n{source}"
    )


def submitted(answers: Mapping[str, str], lesson: str = "01_lookup") -> frozenset[int]:
    return fingerprint(cells(answers, lesson), lesson)


def test_finds_a_copy_with_renamed_variables():
    copy = {name: renamed(source) for name, source in VERBOSE.items()}
    assert copy != VERBOSE and similarity(submitted(VERBOSE), submitted(copy)) == 1.0
    changed = {**copy, "softmax": copy["softmax"].replace("torch.div(e, total)", "e / total")}
    assert MIN_SIMILARITY <= similarity(submitted(VERBOSE), submitted(changed)) < 1.0
    found = similar_pairs("01_lookup", {"ada": submitted(VERBOSE), "ben": submitted(RIGHT), "cleo": submitted(changed)})
    assert [pair.students for pair in found] == [("ada", "cleo")]


def test_ignores_stubs_and_course_solutions():
    for lesson in LESSONS:
        assert submitted(RIGHT, lesson) == submitted({}, lesson) == frozenset()
    both = submitted(VERBOSE) | submitted(RIGHT)
    assert similarity(both, submitted(VERBOSE)) == 1.0


@cache  # cached, because finding the source of a class is slow
def independent_answers() -> dict[str, list[str]]:
    """Return right answers in unusual styles, keyed by exercise."""
    found: dict[str, list[str]] = {}
    for lesson in LESSONS:
        for exercise in exercises_of(lesson):
            others = [INDEPENDENT[exercise.name], *UNUSUAL.get(exercise.name, {}).values()]
            written = [answer for answer in others if inspect.isfunction(answer) or inspect.isclass(answer)]
            sources = [textwrap.dedent(inspect.getsource(answer)) for answer in written]
            found[exercise.name] = [f"{exercise.name} = 0\n{source}" for source in sources if "lambda" not in source]
    return found


@pytest.mark.parametrize("lesson", LESSONS)
def test_does_not_list_independent_answers(lesson: str):
    answers = independent_answers()
    names = [exercise.name for exercise in exercises_of(lesson)]
    students = {
        str(n): submitted({name: answers[name][n] for name in names if n < len(answers[name])}, lesson)
        for n in range(6)
    }
    assert similar_pairs(lesson, students) == []
    assert all(similarity(a, b) < 0.5 for a, b in itertools.combinations(students.values(), 2))


def test_does_not_compare_short_answers():
    body = "e = (s - s.amax(-1, keepdim=True)).exp_()\n    return e.div(e.sum(-1)[..., None])"
    short = {"softmax": f"def softmax(s):\n    {body}"}
    assert 0 < len(submitted(short)) < MIN_TOKEN_RUNS and similarity(submitted(short), submitted(short)) == 0.0


def test_recognizes_copied_long_solution():
    known = [
        exercise.name
        for lesson in LESSONS
        for exercise in exercises_of(lesson)
        if is_course_solution(RIGHT[exercise.name], exercise.name)
    ]
    assert len(known) > 30 and "softmax" not in known and "MultiHeadAttention" in known
    assert is_course_solution(f"# mine\n{RIGHT['masked_attention']}", "masked_attention")
    assert not is_course_solution(RIGHT["masked_attention"].replace("return ", "return 1 * "), "masked_attention")


@pytest.mark.parametrize(
    "source", ["def softmax(", "def softmax(x):\n\treturn (\n  '''", "class softmax:\n x\n  y", "def softmax(\0"]
)
def test_accepts_invalid_python(source: str):
    code = [{"id": "", "source": source}, {"id": "check-softmax", "source": ""}]
    assert answer_text(code, "softmax") == source and len(fingerprint(code, "01_lookup")) < MIN_TOKEN_RUNS
    assert not is_course_solution(source, "softmax")

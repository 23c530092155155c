"""What a learner's cells may look like, and what is said when they do not work."""

import json
from inspect import isclass

import pytest

from tests.helpers.thoroughness import one_in
from tests.transformer_course.sandbox.sample_submissions import IMPORTS, RIGHT, cells, grade_answer, grade_cells
from transformer_course.exercises import every_exercise
from transformer_course.grading.judging.run_answer import library_source
from transformer_course.sandbox.sandbox import Sandbox

ATTENTION = every_exercise()["attention"]


@pytest.mark.parametrize("name", one_in(4, RIGHT))
def test_a_right_answer_gets_its_points(sandbox: Sandbox, name: str):
    graded = grade_answer(sandbox, IMPORTS + RIGHT[name], name)
    assert (graded.verdict.status, graded.points) == ("passed", every_exercise()[name].points), graded.verdict.message


@pytest.mark.parametrize("name", one_in(3, RIGHT))
def test_the_parts_of_the_library_do_what_was_asked(sandbox: Sandbox, name: str):
    """Each is made of its own source in the sandbox, so it must lean on other pieces alone, not on its own module."""
    exercise = every_exercise()[name]
    borrows = "class borrowed(parts.{}):\n    pass" if isclass(exercise.reference) else "borrowed = parts.{}"
    job = {
        "name": "borrowed",
        "cells": [{"id": "", "source": borrows.format(name)}],
        "cases": [vars(case) | {"label": ""} for case in exercise.cases(1)],
        "seconds": 10.0,
        "library": json.dumps({other.name: library_source(other) for other in every_exercise().values()}),
    }
    answer = sandbox.run(job).answer
    assert answer is not None
    assert all({"output", "samples"} & record.keys() for record in answer["records"])


def test_an_answer_that_is_gone_is_not_started(sandbox: Sandbox):
    graded = grade_answer(sandbox, "x = 1")
    assert (graded.verdict.status, graded.verdict.message) == ("not_started", "No cell defines `softmax`.")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def softmax(s):\n    x = s.nothing\n    return x", "On your line 2:\n    x = s.nothing"),
        ("def softmax(s)\n    return s", "On your line 1:\n    def softmax(s)"),
        ("import nowhere\n@nowhere.f\ndef softmax(s): ...", "No module named 'nowhere'\nOn your line 1"),
        ("def softmax(s: Flaot): ...", "NameError: name 'Flaot' is not defined\nOn your line 1"),
        ("softmax = 3", "softmax should be a function or a class; here it is of type int"),
    ],
)
def test_a_crash_shows_the_learners_own_line(sandbox: Sandbox, source: str, message: str):
    verdict = grade_answer(sandbox, source).verdict
    assert verdict.status == "crashed" and message in verdict.message


@pytest.mark.parametrize(
    "source",
    [
        "softmax = lambda s: torch.softmax(s, dim=-1)",
        "from functools import partial\nsoftmax = partial(torch.softmax, dim=-1)",
        "def softmax(s): return torch.softmax(s, dim=-1)\ncheck(softmax)\nprint(softmax(undefined))\nx = undefined",
        "%%time\ndef softmax(s): return s.softmax(-1)",
        "def softmax(s): return F.softmax(s, dim=-1)  # with nothing imported",
        "from transformer_course import check, parts\ndef softmax(s): check(softmax); return s.softmax(-1)",
        "from transformer_course import *\ndef softmax(s): check(softmax); return s.softmax(-1)",
        "from transformer_course.lesson.notebook import *\ndef softmax(s): return s.softmax(-1)",
        "import transformer_course as lab\ndef softmax(s): lab.check(softmax); return s.softmax(-1)",
        "import transformer_course.lesson.notebook as lab\ndef softmax(s): lab.check(softmax); return s.softmax(-1)",
    ],
)
def test_unusual_cells_pass(sandbox: Sandbox, source: str):
    assert grade_answer(sandbox, source).verdict.passed


@pytest.mark.parametrize("package", ["transformer_course", "transformer_course.lesson.notebook"])
def test_an_import_cell_gets_parts_that_work_and_checks_that_do_nothing(sandbox: Sandbox, package: str):
    """Lessons import from the first; those that were handed out before imported from the second."""
    imports = f"from {package} import check as c, compare as e, hint as h, parts as p, solution as s"  # not as usual
    answer = """
def attention(queries, keys, values):
    assert c(attention) is e(1, 2) is h(attention) is s(attention) is None
    return p.attention_weights(queries, keys) @ values
"""
    code = [{"id": "imports", "source": imports}, {"id": "attention", "source": answer}]
    verdict = grade_cells(sandbox, code, "attention").verdict
    assert verdict.passed, verdict.message


def test_an_answer_that_draws_is_graded_like_any_other(sandbox: Sandbox):
    source = "def softmax(s):\n    for ax in plots.heads(s[None]): ax.set_title('scores')\n"
    source += "    plots.lines([0], {'s': s}, 'x', 'y').legend()\n    return torch.softmax(s, dim=-1)"
    assert grade_answer(sandbox, f"{IMPORTS}{source}").verdict.status == "passed"


def test_helpers_of_other_cells_are_there_wherever_they_stand(sandbox: Sandbox):
    answer = {"softmax": "def softmax(s): return above(s) / below(above(s))"}
    code = cells(answer, others=["def above(s): return (s - s.amax(-1, keepdim=True)).exp()", "raise SystemExit"])
    code.append({"id": "", "source": "AXIS = -1\ndef below(e): return e.sum(AXIS, keepdim=True)\ndef above(s): 1 / 0"})
    assert grade_cells(sandbox, code, "softmax").verdict.passed


def test_experiments_do_not_run(sandbox: Sandbox):
    code = cells({"softmax": RIGHT["softmax"]}, others=["while True:\n    scores = 1"])
    assert grade_cells(sandbox, code, "softmax").verdict.passed


def test_one_answer_may_call_another(sandbox: Sandbox):
    code = cells({**RIGHT, "attention": "def attention(q, k, v): return attention_weights(q, k) @ v"})
    assert grade_cells(sandbox, code, "attention").verdict.passed


def test_what_an_answer_reads_from_the_notebook_comes_along_and_is_remarked(sandbox: Sandbox):
    code = cells({"softmax": "def softmax(s): return s.softmax(axis)"}, others=["axis = -1"])
    graded = grade_cells(sandbox, code, "softmax")
    assert graded.points == every_exercise()["softmax"].points
    assert "Your code reads `axis` from the notebook" in graded.verdict.message


def test_an_answer_that_calls_an_unfinished_one_is_told_which(sandbox: Sandbox):
    code = cells({"attention_weights": "def attention_weights(q, k): return softmax(q @ k.mT)"})
    verdict = grade_cells(sandbox, code, "attention_weights").verdict
    assert verdict.status == "crashed"
    assert verdict.message.startswith("Your code uses `softmax`, which you have not written yet.")


def test_parts_are_right_even_where_the_learners_own_are_not(sandbox: Sandbox):
    answer = "def attention(q, k, v): return parts.attention_weights(q, k) @ v"
    code = cells({"attention": answer, "attention_weights": "def attention_weights(q, k): return q @ k.mT"})
    assert grade_cells(sandbox, code, "attention").verdict.passed


def test_the_part_that_is_asked_for_is_not_there(sandbox: Sandbox):
    verdict = grade_answer(sandbox, "def softmax(s): return parts.softmax(s)").verdict
    assert verdict.status == "crashed" and "parts.softmax is what this exercise asks you to write" in verdict.message


def test_a_module_exercise_asks_for_a_module(sandbox: Sandbox):
    job = {
        "name": "f",
        "cells": [{"id": "", "source": "def f(x): return x"}],
        "cases": [{"inputs": {}, "label": "", "kind": "module"}],
        "seconds": 1.0,
        "library": "{}",
    }
    answer = sandbox.run(job).answer
    assert answer is not None
    assert answer["crash"] == {"type": "TypeError", "message": "f should be a class made from nn.Module"}

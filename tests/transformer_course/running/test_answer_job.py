"""Tests that the job which runs an answer in the sandbox accepts unusual cells and reports errors."""

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
def test_correct_answer_gets_its_points(sandbox: Sandbox, name: str):
    graded = grade_answer(sandbox, IMPORTS + RIGHT[name], name)
    assert (graded.verdict.status, graded.points) == ("passed", every_exercise()[name].points), graded.verdict.message


@pytest.mark.parametrize("name", one_in(3, RIGHT))
def test_library_parts_solve_their_exercises(sandbox: Sandbox, name: str):
    """In the sandbox, each part is built from its own source, so it may use other parts but no code from its module."""
    exercise = every_exercise()[name]
    source = "class borrowed(parts.{}):\n    pass" if isclass(exercise.reference) else "borrowed = parts.{}"
    job = {
        "name": "borrowed",
        "cells": [{"id": "", "source": source.format(name)}],
        "cases": [vars(case) | {"label": ""} for case in exercise.cases(1)],
        "seconds": 10.0,
        "library": json.dumps({other.name: library_source(other) for other in every_exercise().values()}),
    }
    answer = sandbox.run(job).answer
    assert answer is not None
    assert all({"output", "samples"} & record.keys() for record in answer["records"])


def test_missing_answer_counts_as_not_started(sandbox: Sandbox):
    graded = grade_answer(sandbox, "x = 1")
    assert (graded.verdict.status, graded.verdict.message) == ("not_started", "No cell defines `softmax`.")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def softmax(s):\n    x = s.nothing\n    return x", "On your line 2:\n    x = s.nothing"),
        ("def softmax(s)\n    return s", "On your line 1:\n    def softmax(s)"),
        ("import nowhere\n@nowhere.f\ndef softmax(s): ...", "No module named 'nowhere'\nOn your line 1"),
        ("def softmax(s: Flaot): ...", "NameError: name 'Flaot' is not defined\nOn your line 1"),
        ("softmax = 3", "softmax must be a function or a class; got a value of type int"),
    ],
)
def test_crash_report_shows_line_in_learner_code(sandbox: Sandbox, source: str, message: str):
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
def test_accepts_unusual_cells(sandbox: Sandbox, source: str):
    assert grade_answer(sandbox, source).verdict.passed


@pytest.mark.parametrize("package", ["transformer_course", "transformer_course.lesson.notebook"])
def test_imports_provide_parts_and_inactive_checks(sandbox: Sandbox, package: str):
    """Test the import from ``transformer_course`` and, for older lessons, the import from ``lesson.notebook``."""
    imports = f"from {package} import check as c, compare as e, hint as h, parts as p, solution as s"
    answer = """
def attention(queries, keys, values):
    assert c(attention) is e(1, 2) is h(attention) is s(attention) is None
    return p.attention_weights(queries, keys) @ values
"""
    code = [{"id": "imports", "source": imports}, {"id": "attention", "source": answer}]
    verdict = grade_cells(sandbox, code, "attention").verdict
    assert verdict.passed, verdict.message


def test_grades_answer_that_plots(sandbox: Sandbox):
    source = "def softmax(s):\n    for ax in plots.heads(s[None]): ax.set_title('scores')\n"
    source += "    plots.lines([0], {'s': s}, 'x', 'y').legend()\n    return torch.softmax(s, dim=-1)"
    assert grade_answer(sandbox, f"{IMPORTS}{source}").verdict.status == "passed"


def test_answer_may_use_helpers_from_earlier_cells(sandbox: Sandbox):
    answer = {"softmax": "def softmax(s): return above(s) / below(above(s))"}
    code = cells(answer, others=["def above(s): return (s - s.amax(-1, keepdim=True)).exp()", "raise SystemExit"])
    code.append({"id": "", "source": "AXIS = -1\ndef below(e): return e.sum(AXIS, keepdim=True)\ndef above(s): 1 / 0"})
    assert grade_cells(sandbox, code, "softmax").verdict.passed


def test_does_not_run_experiments(sandbox: Sandbox):
    code = cells({"softmax": RIGHT["softmax"]}, others=["while True:\n    scores = 1"])
    assert grade_cells(sandbox, code, "softmax").verdict.passed


def test_answer_may_call_another_answer(sandbox: Sandbox):
    code = cells({**RIGHT, "attention": "def attention(q, k, v): return attention_weights(q, k) @ v"})
    assert grade_cells(sandbox, code, "attention").verdict.passed


def test_includes_and_reports_notebook_variables(sandbox: Sandbox):
    code = cells({"softmax": "def softmax(s): return s.softmax(axis)"}, others=["axis = -1"])
    graded = grade_cells(sandbox, code, "softmax")
    assert graded.points == every_exercise()["softmax"].points
    assert "Your code reads `axis` from the notebook" in graded.verdict.message


def test_reports_unfinished_function_called_by_answer(sandbox: Sandbox):
    code = cells({"attention_weights": "def attention_weights(q, k): return softmax(q @ k.mT)"})
    verdict = grade_cells(sandbox, code, "attention_weights").verdict
    assert verdict.status == "crashed"
    assert verdict.message.startswith("Your code uses `softmax`, which you have not written yet.")


def test_uses_library_parts_if_learner_parts_are_wrong(sandbox: Sandbox):
    answer = "def attention(q, k, v): return parts.attention_weights(q, k) @ v"
    code = cells({"attention": answer, "attention_weights": "def attention_weights(q, k): return q @ k.mT"})
    assert grade_cells(sandbox, code, "attention").verdict.passed


def test_blocks_library_part_for_current_exercise(sandbox: Sandbox):
    verdict = grade_answer(sandbox, "def softmax(s): return parts.softmax(s)").verdict
    assert (
        verdict.status == "crashed"
        and "parts.softmax is not available in this exercise, because you implement it here" in verdict.message
    )


def test_module_exercise_requires_module(sandbox: Sandbox):
    job = {
        "name": "f",
        "cells": [{"id": "", "source": "def f(x): return x"}],
        "cases": [{"inputs": {}, "label": "", "kind": "module"}],
        "seconds": 1.0,
        "library": "{}",
    }
    answer = sandbox.run(job).answer
    assert answer is not None
    assert answer["crash"] == {"type": "TypeError", "message": "f must be a subclass of nn.Module"}

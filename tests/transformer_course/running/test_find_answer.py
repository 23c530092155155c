"""Tests for finding answers in a notebook, in order of likelihood, with the statements that each answer needs."""

import ast
from collections.abc import Sequence

import pytest

from transformer_course.running.find_answer import Answer, find_answers


def find(sources: Sequence[str], name: str = "f") -> Answer | None:
    """Return the likeliest answer that these cells contain."""
    return next(iter(find_answers([{"source": source} for source in sources], name)), None)


def cells_of(sources: Sequence[str], name: str = "f") -> list[int]:
    return [answer.cell for answer in find_answers([{"source": source} for source in sources], name)]


def statements_of(sources: Sequence[str], name: str = "f") -> list[tuple[int, set[str]]]:
    """Return the cell and the bound names of each statement that the likeliest answer needs."""
    answer = find(sources, name)
    assert answer is not None
    return [(statement.cell, set(statement.binds)) for statement in answer.statements]


@pytest.mark.parametrize(
    ("sources", "cells"),
    [
        (["def f(): 1", "def f(): 2", "f()"], [1, 0]),
        (["def f(): 1", "check(f)", "def f(): 2"], [0, 2]),  # a definition after the check counts as an experiment
        (["check(f)", "def f(): 2"], [1]),
        (["def f(): 1", "check(f)", "def f(): 2", "check(f)"], [2, 0]),
        (["def f(): 1\ncheck(f)\ndef f(): 2"], [0, 0]),
        (["def f(): 1", "def f(: 2", "check(f)"], [1, 0]),
        (["def g(): 1", "check(g, 'f')"], [0]),
        (["def f(): 1", "check(f)", "def g(): 2", "check(g, 'f', save=False)"], [0]),
        (["def f(): 1", "def g(): 2", "check(g, 'f', False)"], [0]),
        (["from m import f", "check(f)"], []),
        (["check(lambda: 1, 'f')"], [0]),
        (["def f(): 1", "check(f)", "def f(): 1", "check(f)"], [2]),  # an identical copy counts as the same answer
        ([f"def f(): {n}" for n in range(9)], [8, 7, 6, 5]),
    ],
)
def test_answers_are_ordered_by_checks_then_definitions(sources: list[str], cells: list[int]):
    assert cells_of(sources) == cells


def test_uses_helpers_defined_before_check_or_after_answer():
    sources = ["def h(): 1", "def f(): return h()", "def h(): 2", "check(f)", "def h(): 3"]
    answers = find_answers([{"source": source} for source in sources], "f")
    executed = []
    for answer in answers:
        executed.append([s.cell for s in answer.statements if not (answer.is_check and s is answer.target)])
    assert executed == [[0, 1, 2], [0, 1], [0, 1, 2, 4]]
    assert not any(answer.later for answer in answers)


def test_later_definitions_add_only_missing_names():
    answer = find(["def f(): return g() + h()", "def g(): 1", "check(f)", "def g(): 2", "def h(): 3"])
    assert answer is not None and [s.cell for s in answer.later] == [4]


def test_includes_statements_that_change_needed_values():
    sources = ["T = {}", "T['a'] = 1", "T.b.c = 2", "other[0] = 3", "def f(): return T", "@add_to(f)\ndef g(): ..."]
    expected = [(0, {"T"}), (1, set()), (2, set()), (4, {"f"}), (5, {"g"}), (6, set())]
    assert statements_of([*sources, "check(f)"]) == expected


@pytest.mark.parametrize("source", ["class f: ...", "f = lambda x: x", "if True:\n    def f(): ...", "f: object = max"])
def test_accepts_classes_lambdas_and_conditional_definitions(source: str):
    assert find([source]) is not None


@pytest.mark.parametrize(
    "source", ["f()", "def g():\n    f = 1", "class g:\n    def f(self): ...", "from m import f", ""]
)
def test_ignores_name_uses_inner_definitions_and_imports(source: str):
    assert find([source]) is None


def test_includes_only_needed_statements():
    sources = [
        "import math\nimport pandas as pd",
        "def helper(x): return other(x)",
        "def other(x): return math.sqrt(x) * SCALE",
        "SCALE = 3\nx = run_for_hours()\nrows = x",
        "def f(x):\n    rows = helper(x)\n    return rows",
    ]
    assert statements_of(sources) == [(0, {"math"}), (1, {"helper"}), (2, {"other"}), (3, {"SCALE"}), (4, {"f"})]


def test_ignores_experiment_with_name_of_argument():
    assert statements_of(["x = run_for_hours()", "def f(x): return [x for x in x]"]) == [(1, {"f"})]


def test_includes_only_needed_imports_from_its_cell():
    imports = "import math\nimport os.path, pandas\nfrom torch import (\n    exp,\n    sin)\n"
    assert statements_of([f"{imports}k = math.pi\ndef f(x): return exp(x) + k"]) == [
        (0, {"math"}),
        (0, {"exp", "sin"}),
        (0, {"k"}),
        (0, {"f"}),
    ]
    assert statements_of(["def f(x): return 1\nfrom math import sqrt as f"]) == [(0, {"f"})]  # the import is omitted


def test_skips_magics_and_preserves_line_numbers():
    answer = find(["%%time\n!pip install einops\ndef f(x):\n    %timeit x\n    return x\nf?"])
    assert answer is not None and answer.error is None
    assert [statement.node.lineno for statement in answer.statements] == [3]


def test_modulo_at_line_start_is_not_a_magic():
    answer = find(["def f(x):\n    return (x\n        % 2)"])
    assert answer is not None and answer.error is None
    assert "% 2" in ast.unparse(answer.statements[0].node)


def test_invalid_cell_that_begins_definition_is_an_answer():
    answer = find(["def f(x):\n    return x", "def f(x)\n    return x"])
    assert answer is not None and answer.cell == 1
    assert isinstance(answer.error, SyntaxError) and answer.error.lineno == 1


def test_ignores_invalid_cells_without_an_answer():
    assert statements_of(["oops oops", "def f(): ..."]) == [(1, {"f"})]


@pytest.mark.parametrize("source", ["f = " + "(" * 5000, "f = " + "-" * 100_000 + "1", "f = '\0'", "f = '\ud800'"])
def test_code_that_breaks_the_parser_is_an_error(source: str):
    answer = find([source])
    assert answer is None or answer.error is not None or answer.statements

import ast
from collections.abc import Sequence

import pytest

from transformer_course.running.find_answer import Answer, find_answer


def find(sources: Sequence[str], name: str = "f", **ids: int) -> Answer | None:
    """Find the answer among cells with these sources; ``check_f=2`` makes cell 2 the one that checks f."""
    by_cell = {cell: key.replace("check_", "check-") for key, cell in ids.items()}
    return find_answer([{"id": by_cell.get(i, ""), "source": source} for i, source in enumerate(sources)], name)


def taken(sources: Sequence[str], name: str = "f", **ids: int) -> list[tuple[int, set[str]]]:
    answer = find(sources, name, **ids)
    assert answer is not None
    return [(statement.cell, set(statement.binds)) for statement in answer.statements]


@pytest.mark.parametrize(
    ("sources", "ids", "cell"),
    [
        (["def f(): 1", "def f(): 2", "f()"], {}, 1),
        (["def f(): 1", "check(f)", "def f(): 2"], {"check_f": 1}, 0),  # what is below the check is an experiment
        (["check(f)", "def f(): 2"], {"check_f": 0}, 1),
    ],
)
def test_the_last_cell_above_the_check_or_else_below_is_the_answer(sources: list[str], ids: dict[str, int], cell: int):
    answer = find(sources, **ids)
    assert answer is not None and answer.cell == cell


@pytest.mark.parametrize("source", ["class f: ...", "f = lambda x: x", "if True:\n    def f(): ...", "f: object = max"])
def test_classes_lambdas_and_conditional_definitions_count(source: str):
    assert find([source]) is not None


@pytest.mark.parametrize(
    "source", ["f()", "def g():\n    f = 1", "class g:\n    def f(self): ...", "from m import f", ""]
)
def test_uses_inner_names_and_imports_are_no_answer(source: str):
    assert find([source]) is None


def test_what_the_answer_needs_comes_along_and_nothing_else():
    sources = [
        "import math\nimport pandas as pd",
        "def helper(x): return other(x)",
        "def other(x): return math.sqrt(x) * SCALE",
        "SCALE = 3\nx = run_for_hours()\nrows = x",
        "def f(x):\n    rows = helper(x)\n    return rows",
    ]
    assert taken(sources) == [(0, {"math"}), (1, {"helper"}), (2, {"other"}), (3, {"SCALE"}), (4, {"f"})]


def test_an_argument_of_the_same_name_as_an_experiment_does_not_bring_it_along():
    assert taken(["x = run_for_hours()", "def f(x): return [x for x in x]"]) == [(1, {"f"})]


def test_of_its_own_cell_only_imports_that_are_needed_come_along():
    imports = "import math\nimport os.path, pandas\nfrom torch import (\n    exp,\n    sin)\n"
    assert taken([f"{imports}k = math.pi\ndef f(x): return exp(x) + k"]) == [
        (0, {"math"}),
        (0, {"exp", "sin"}),
        (0, {"k"}),
        (0, {"f"}),
    ]
    assert taken(["def f(x): return 1\nfrom math import sqrt as f"]) == [(0, {"f"}), (0, {"f"})]


def test_magics_are_passed_over_and_lines_keep_their_numbers():
    answer = find(["%%time\n!pip install einops\ndef f(x):\n    %timeit x\n    return x\nf?"])
    assert answer is not None and answer.error is None
    assert [statement.node.lineno for statement in answer.statements] == [3]


def test_a_modulo_at_the_start_of_a_line_is_no_magic():
    answer = find(["def f(x):\n    return (x\n        % 2)"])
    assert answer is not None and answer.error is None
    assert "% 2" in ast.unparse(answer.statements[0].node)


def test_a_cell_that_is_no_python_is_the_answer_if_it_begins_to_define_it():
    answer = find(["def f(x):\n    return x", "def f(x)\n    return x"])
    assert answer is not None and answer.cell == 1
    assert isinstance(answer.error, SyntaxError) and answer.error.lineno == 1


def test_another_cell_that_is_no_python_does_not_matter():
    assert taken(["oops oops", "def f(): ..."]) == [(1, {"f"})]


@pytest.mark.parametrize("source", ["f = " + "(" * 5000, "f = " + "-" * 100_000 + "1", "f = '\0'", "f = '\ud800'"])
def test_code_that_breaks_the_parser_is_an_error_not_the_end(source: str):
    answer = find([source])
    assert answer is None or answer.error is not None or answer.statements

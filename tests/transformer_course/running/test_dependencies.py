"""Tests that the lesson, the grader and saved parts agree on the names that code needs and binds."""

import ast
import dis
import inspect
from types import CodeType

import pytest

from transformer_course.running import answer_job, dependencies, record
from transformer_course.running.dependencies import definitions, names_of_function, names_of_statement
from transformer_course.running.find_answer import find_answers
from transformer_course.running.introspect import notebook_dependencies
from transformer_course.running.ipython_syntax import parse
from transformer_course.workspace.standalone_source import standalone_source


def names(source):
    [node] = ast.parse(source).body
    found = names_of_statement(node)
    return list(found.binds), list(found.needs_at_once), list(found.needs_later)


@pytest.mark.parametrize(
    ("source", "binds", "at_once", "later"),
    [
        ("def f(x: T = d): return x + A", ["f"], ["d", "T"], ["A"]),
        ("@w(k)\ndef f(): ...", ["f"], ["w", "k"], []),
        ("class C(B):\n    n = A\n    m = n\n    def f(self): return D", ["C"], ["B", "A"], ["D"]),
        ("f = lambda x: x + A", ["f"], [], ["A"]),
        ("a, (b, *c) = d", ["a", "b", "c"], ["d"], []),
        ("a += 1", ["a"], ["a"], []),
        ("a: int", [], ["int"], []),
        ("a.b = c", [], ["c", "a"], []),
        ("import torch.nn as nn, math", ["nn", "math"], [], []),
        ("from math import *", ["*"], [], []),
        ("rows = [x * A for x in data if (y := x)]", ["rows", "y"], ["data", "A"], []),
        ("text = f'{a:{b}}'", ["text"], ["a", "b"], []),
        ("def f():\n    global n\n    n = m", ["f"], [], ["m"]),
        ("def f():\n    global n\n    n += 1", ["f"], [], ["n"]),
        ("def f():\n    class C:\n        n = A\n        m = n\n    return C", ["f"], [], ["A"]),
        ("def f():\n    def g(): return A\n    return g", ["f"], [], ["A"]),
        ("try:\n    import a\nexcept ImportError:\n    a = None", ["a"], ["ImportError"], []),
        ("def f(): return __name__", ["f"], [], []),
    ],
)
def test_statement_names_follow_scoping_rules(source, binds, at_once, later):
    assert [sorted(found) for found in names(source)] == [sorted(binds), sorted(at_once), sorted(later)]


@pytest.mark.parametrize("source", ["return 1", "yield x", "break"])
def test_invalid_statement_has_no_names(source):
    assert names(source) == ([], [], [])


def test_function_and_its_statement_need_same_names():
    source = "def f(x, y=d):\n    def g(): return A.size + x\n    return [B(z) for z in y], g, lambda: C"
    exec(source, scope := {"d": 1})
    # Since Python 3.12, comprehensions are compiled inline, so the order of the names differs.
    assert sorted(names_of_function(scope["f"].__code__)) == sorted(names(source)[2]) == ["A", "B", "C"]


def test_ignores_bare_expressions_and_magics():
    source = "%matplotlib inline\nprint(x)\ny = 1\n!ls\ndel y\nz?"
    assert [statement.text for statement in definitions(3, *parse(source))] == ["y = 1"]


def test_statement_text_includes_decorators_and_comments():
    source = "x = 1\n@w\ndef f():\n    # why\n    return x"
    statement = definitions(0, *parse(source))[1]
    assert (statement.cell, statement.text) == (0, "@w\ndef f():\n    # why\n    return x")


NOTEBOOKS = {
    "decorators": [
        "import functools",
        "def twice(g):\n    @functools.wraps(g)\n    def wrapper(x):\n        return g(g(x))\n    return wrapper",
        "@twice\ndef f(x):\n    return x + 3",
    ],
    "class bodies": [
        "def helper(x):\n    return x * 7",
        "SIZE = 2",
        "class Base:\n    step = SIZE + 1\n    twice = 2 * step",
        "class Both(Base):\n    rows = [n * SIZE for n in (1, 2)]\n    def add(self, x):\n"
        "        return helper(x) + self.twice + sum(self.rows)",
        "def f(x):\n    return Both().add(x)",
    ],
    "comprehensions": [
        "OFFSETS = [n * n for n in range(4)]",
        "n = 1000",
        "def f(x):\n    return sum({k: v for k, v in enumerate(x + n for n in OFFSETS)}.values())",
    ],
    "default arguments": ["scale = 3", "def f(x, times=scale):\n    return x * times", "scale = 5"],
    "global constants": ["HALF = 0.5\nWHOLE = HALF + HALF", "def f(x):\n    return x * HALF + WHOLE"],
    "aliases": ["import math as m\nfrom math import sqrt as root", "r = root", "def f(x):\n    return r(x) + m.pi"],
    "redefinitions of a helper above": [
        "def g(x):\n    return x",
        "def g(x):\n    return x + 1",
        "def f(x):\n    return g(x)",
    ],
    "a redefinition that uses the old function": [
        "def twice(g):\n    return lambda x: g(g(x))",
        "def f(x):\n    return x + 3\nf = twice(f)",
    ],
    "f-strings": ["width = 6", "def f(x):\n    return f'{x:{width}.2f}'"],
    "lambdas": ["add = lambda a, b: a + b", "f = lambda x: add(x, step)", "step = 9"],
    "star-imports": ["from math import *", "def f(x):\n    return sqrt(x) + pow(2, 0.5) + pi"],
    "global": ["count = 0", "def f(x):\n    global count\n    count += 1\n    return x + count"],
    "a name that is bound by a call": [
        "def prepare():\n    global table\n    table = [1, 2]",
        "def f(x):\n    prepare()\n    return x + sum(table)",
        "table = None",
    ],
    "functions that call each other": [
        "import functools",
        "def f(x):\n    return 1 if x <= 0 else g(x - 1)",
        "g = functools.partial(f)",
    ],
    "conditional imports": [
        "try:\n    import nowhere_to_be_found as fast\nexcept ImportError:\n    fast = None",
        "if fast is None:\n    def g(x):\n        return x * 2\nelse:\n    g = fast.g",
        "def f(x):\n    return g(x)",
    ],
}


@pytest.mark.parametrize("cells", NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_lesson_grader_and_saved_parts_agree(cells):
    def in_the_lesson():
        scope = {"__name__": "__main__"}
        for cell in cells:
            exec(cell, scope)
        return scope

    def in_the_grader():
        answer = find_answers([{"source": cell} for cell in cells], "f")[0]
        scope = {"__name__": "__main__"}
        for statement in answer.statements:
            exec(compile(ast.Module([statement.node], []), "<cell>", "exec"), scope)
        for statement in answer.later:  # later statements may only add names
            exec(compile(ast.Module([statement.node], []), "<cell>", "exec"), added := dict(scope))
            scope |= {name: value for name, value in added.items() if name not in scope}
        return scope

    def in_a_later_lesson():
        exec(standalone_source("f", cells), scope := {"__name__": "__main__"})
        return scope

    scopes = [in_the_lesson(), in_the_grader(), in_a_later_lesson()]
    assert scopes[0]["f"](2.0) == scopes[1]["f"](2.0) == scopes[2]["f"](2.0)
    remarks = [notebook_dependencies(scope["f"]) for scope in scopes]
    assert remarks[0] == remarks[1] == remarks[2]


def test_keeps_bare_expression_that_exits():
    source = "plot(x)\nos._exit(0)\nos.abort()\nsys.exit\nx = 3"
    assert [statement.text for statement in definitions(0, *parse(source))] == ["os._exit(0)", "os.abort()", "x = 3"]


@pytest.mark.parametrize("module", [answer_job, ast, dependencies, dis, inspect, record])
def test_name_operations_match_dis(module):
    def code_objects(code):
        yield code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from code_objects(constant)

    # more names than a one-byte index can address
    many_names = "".join(f"n{i} = m{i}\n" for i in range(700)) + "def f():\n    return n1, m699, f\n"
    names = (*dependencies.LOOKUPS, *dependencies.STORES)
    for source in (inspect.getsource(module), many_names):
        for code in code_objects(compile(source, "<module>", "exec")):
            by_dis = [(step.opname, step.argval) for step in dis.get_instructions(code) if step.opname in names]
            assert list(dependencies.names_in(code)) == by_dis

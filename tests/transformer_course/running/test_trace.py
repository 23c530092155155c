"""Tests that tracing preserves results, records the value of every expression, and can replace expressions."""

import pytest
import torch
from torch import nn

from tests.transformer_course.cells import cell
from transformer_course.running.case import Case
from transformer_course.running.instrumentation import MAX_EXPRESSIONS, RECORD, CannotTrace
from transformer_course.running.plain_data import same
from transformer_course.running.trace import Traced
from transformer_course.running.trace_recorder import ValueSequence

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
CASE = Case({"x": X}, "")


def values_of(traced, text, trace):
    return [event.value for event in trace.events if traced.expressions[event.number].text == text]


def number_of(traced, text):
    return next(expression.number for expression in traced.expressions if expression.text == text)


PROGRAMS = {
    "comprehensions": """
def f(x):
    return torch.stack([row * k for k, row in enumerate(x) if k >= 0])
""",
    "generators": """
def f(x):
    def rows():
        for row in x:
            yield row * 2
    return sum(rows())
""",
    "lambdas": """
def f(x):
    g = lambda t, k=2: t * k
    return g(x) + g(x, k=3)
""",
    "walrus": """
def f(x):
    if (n := x.shape[0]) > 1:
        return x / n
    return x
""",
    "match": """
def f(x):
    match x.shape:
        case (n, d):
            return x * n + d
        case _:
            return x
""",
    "recursion": """
def f(x, n=3):
    return x if n == 0 else f(x + n, n - 1)
""",
    "exceptions": """
def f(x):
    try:
        return x @ x
    except RuntimeError as error:
        return x + len(str(error)) * 0
    finally:
        x = None
""",
    "in place": """
def f(x):
    y = x.clone()
    y += 1
    y[0] = y[1] * 2
    y[:, 1] -= 3
    y.mul_(2)
    return y
""",
    "a global cache": """
seen = {}
def f(x):
    seen['x'] = x
    return seen['x'] * 2
""",
    "f-strings and stars": """
def f(x):
    parts = [x, x + 1]
    name = f'{x.shape[0] + 1!r:>3}'
    return torch.cat([*parts]) * len(name)
""",
    "while and break": """
def f(x):
    n = 0
    while True:
        n += 1
        if n > 3:
            break
    else:
        n = 9
    return x * n
""",
    "with": """
def f(x):
    with torch.no_grad():
        y = x * 2
    return y
""",
    "annotations": """
def f(x: 'Tensor') -> 'Tensor':
    y: int = 3
    return x * y
""",
    "chained comparisons": """
def f(x):
    return torch.where((x > 1) & (x < 5), x, -x) if 0 < x.shape[0] <= 2 else x
""",
    "tuples": """
def f(x):
    a, *b = x
    (c, d), e = (a, b[0]), 3
    return c * d * e
""",
    "star arguments": """
def g(*a, **k):
    return a[0] * k['times']
def f(x):
    return g(*[x], **{'times': 3})
""",
}
"""Functions that use different parts of Python's syntax. Each returns a value computed from x."""


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_tracing_preserves_results(source):
    function = cell(source)
    trace = Traced(function).run(CASE)
    assert trace.error is None
    assert same(trace.output, function(X.clone()))


def test_records_every_evaluation_of_every_expression():
    traced = Traced(cell("def f(x):\n    total = 0\n    for row in x:\n        total = total + row\n    return total"))
    trace = traced.run(CASE)
    assert same(values_of(traced, "row", trace), [X[0], X[1]])
    assert same(values_of(traced, "total + row", trace), [X[0], X[0] + X[1]])
    assert [event.evaluation for event in trace.events if traced.expressions[event.number].text == "row"] == [0, 1]


def test_records_value_after_in_place_statement():
    traced = Traced(cell("def f(x):\n    y = x * 2\n    y += 1\n    y[0] = 0\n    return y"))
    trace = traced.run(CASE)
    assert same(values_of(traced, "y += 1", trace), [X * 2 + 1])
    assert same(values_of(traced, "y[0] = 0", trace)[0][0], torch.zeros(3))


def test_does_not_evaluate_replaced_expression():
    traced = Traced(cell("def f(x):\n    y = x @ x\n    return y + 1"))
    assert traced.run(CASE).error[0] == "RuntimeError"
    assert same(traced.run(CASE, {number_of(traced, "x @ x"): X}).output, X + 1)


def test_replaces_value_changed_in_place():
    traced = Traced(cell("def f(x):\n    y = x.clone()\n    y += 1\n    return y * 2"))
    assert same(traced.run(CASE, {number_of(traced, "y += 1"): X}).output, X * 2)


def test_records_functions_from_earlier_cells():
    helper = cell("def doubled(t):\n    return t * 2", "doubled")
    traced = Traced(cell("def f(x):\n    return doubled(x) + 1", doubled=helper))
    trace = traced.run(CASE)
    assert same(values_of(traced, "t * 2", trace), [X * 2])
    assert same(traced.run(CASE, {number_of(traced, "t * 2"): X}).output, X + 1)


def test_ignores_helper_functions_with_their_own_check():
    helper = cell("def doubled(t):\n    return t * 2", "doubled")
    traced = Traced(cell("def f(x):\n    return doubled(x) + 1", doubled=helper), ["doubled"])
    assert {expression.text for expression in traced.expressions} == {"x", "doubled(x)", "1", "doubled(x) + 1"}
    assert same(traced.run(CASE).output, X * 2 + 1)


def test_records_forward_of_module_but_not_constructor():
    source = """
class M(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Linear(d * 1, d)

    def forward(self, x):
        return self.scaled(self.w(x))

    def scaled(self, y):
        return y * 3
"""
    parameters = {"w.weight": torch.eye(3), "w.bias": torch.zeros(3)}
    case = Case({"x": X}, "", kind="module", arguments={"d": 3}, parameters=parameters)
    traced = Traced(cell(source, "M"))
    trace = traced.run(case)
    assert same(trace.output, X * 3, tolerance=1e-6)
    assert values_of(traced, "d * 1", trace) == []
    assert same(traced.run(case, {number_of(traced, "self.w(x)"): X * 2}).output, X * 6, tolerance=1e-6)


def test_locates_crash_in_smallest_expression():
    traced = Traced(cell("def f(x):\n    y = (x * 2) @ x + 1\n    return y"))
    trace = traced.run(CASE)
    assert trace.output is None
    assert traced.expressions[trace.crashed_in].text == "(x * 2) @ x"


def test_preserves_notebook_globals():
    function = cell("n = 0\ndef f(x):\n    global n\n    n = n + 1\n    return x * n")
    traced = Traced(function)
    traced.run(CASE)
    assert function.__globals__["n"] == 0
    assert RECORD not in function.__globals__


@pytest.mark.parametrize("attempt", [torch.softmax, cell("f = lambda x: x"), max, nn.ReLU()])
def test_rejects_objects_without_source(attempt):
    with pytest.raises(CannotTrace):
        Traced(attempt)


def test_random_numbers_repeat_per_run_not_per_call():
    traced = Traced(cell("def f(x):\n    return x * torch.rand(2, 3)"))
    first, second = traced.run_twice(CASE)
    assert same(first.output, traced.run(CASE).output)
    assert not same(first.output, second.output)


def test_exit_counts_as_a_crash():
    assert Traced(cell("def f(x):\n    raise SystemExit(3)")).run(CASE).error == ("SystemExit", "3")


def test_replacement_may_differ_per_iteration():
    traced = Traced(cell("def f(x):\n    return torch.stack([row * 2 for row in x])"))
    replacements = {number_of(traced, "row * 2"): ValueSequence([X[1], X[0]])}
    assert same(traced.run(CASE, replacements).output, X.flip(0))


def test_preserves_arguments_and_replacement_values():
    traced = Traced(cell("def f(x):\n    x += 1\n    return x"))
    before, replacement = X.clone(), X.clone()
    traced.run(CASE)
    assert same(X, before)
    traced.run(CASE, {number_of(traced, "x += 1"): replacement})
    assert same(replacement, before)


def test_records_expression_that_writes_into_an_argument():
    traced = Traced(cell("def f(x, y):\n    z = x + y\n    z += 1\n    y.mul_(2)\n    x[0][1] = 3\n    return z"))
    trace = traced.run(Case({"x": X, "y": X}, ""))
    writes = [(traced.expressions[number].text, name) for number, name in trace.writes]
    assert writes == [("y.mul_(2)", "y"), ("x[0][1] = 3", "x")]


def test_returns_same_output_without_recording():
    traced = Traced(cell("def f(x):\n    return x * 2"))
    trace = traced.run(CASE, is_recording=False)
    assert same(trace.output, X * 2)
    assert trace.events == []


def test_rejects_long_code_across_functions():
    lines = "    x = x + 1\n" * (MAX_EXPRESSIONS // 6 + 1) + "    return x"
    helper = cell(f"def helper(x):\n{lines}", "helper")
    with pytest.raises(CannotTrace, match="more than"):
        Traced(cell(f"def f(x):\n    x = helper(x)\n{lines}", helper=helper))

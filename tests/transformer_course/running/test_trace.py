"""Tracing preserves results, records the value of every expression and can replace expressions."""

import pytest
import torch
from torch import nn

from tests.transformer_course.cells import cell
from transformer_course.running.case import Case
from transformer_course.running.plain_data import same
from transformer_course.running.stand_in_models import describe_model
from transformer_course.running.trace import (
    MAX_EVENTS,
    MAX_EXPRESSIONS,
    MAX_RECORDED_NUMBERS,
    CannotTrace,
    Traced,
    ValueSequence,
)

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
CASE = Case({"x": X}, "")


def values_of(traced, text, trace):
    return [event.value for event in trace.events if traced.expressions[event.number].text == text]


def number_of(traced, text):
    return next(one.number for one in traced.expressions if one.text == text)


ODD = {
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
"""Functions with all kinds of code, each of which returns a value computed from x."""


@pytest.mark.parametrize("source", ODD.values(), ids=ODD)
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


def test_records_value_after_in_place_change():
    traced = Traced(cell("def f(x):\n    y = x * 2\n    y += 1\n    y[0] = 0\n    return y"))
    trace = traced.run(CASE)
    assert same(values_of(traced, "y += 1", trace), [X * 2 + 1])
    assert same(values_of(traced, "y[0] = 0", trace)[0][0], torch.zeros(3))


def test_replaced_expression_is_not_evaluated():
    traced = Traced(cell("def f(x):\n    y = x @ x\n    return y + 1"))
    assert traced.run(CASE).error[0] == "RuntimeError"
    assert same(traced.run(CASE, {number_of(traced, "x @ x"): X}).output, X + 1)


def test_replacement_may_differ_per_iteration():
    traced = Traced(cell("def f(x):\n    return torch.stack([row * 2 for row in x])"))
    put = {number_of(traced, "row * 2"): ValueSequence([X[1], X[0]])}
    assert same(traced.run(CASE, put).output, X.flip(0))


def test_replaces_value_changed_in_place():
    traced = Traced(cell("def f(x):\n    y = x.clone()\n    y += 1\n    return y * 2"))
    assert same(traced.run(CASE, {number_of(traced, "y += 1"): X}).output, X * 2)


def test_records_functions_of_other_cells():
    helper = cell("def doubled(t):\n    return t * 2", "doubled")
    traced = Traced(cell("def f(x):\n    return doubled(x) + 1", doubled=helper))
    trace = traced.run(CASE)
    assert same(values_of(traced, "t * 2", trace), [X * 2])
    assert same(traced.run(CASE, {number_of(traced, "t * 2"): X}).output, X + 1)


def test_ignores_functions_with_their_own_check():
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


def test_crash_is_located_in_smallest_expression():
    traced = Traced(cell("def f(x):\n    y = (x * 2) @ x + 1\n    return y"))
    trace = traced.run(CASE)
    assert trace.output is None
    assert traced.expressions[trace.crashed_in].text == "(x * 2) @ x"


def test_expression_has_line_columns_and_containing_expressions():
    traced = Traced(cell("import math\n\ndef f(x):\n    y = x * 2 + 1\n    return y"))
    inner, outer = (traced.expressions[number_of(traced, text)] for text in ("x * 2", "x * 2 + 1"))
    assert (inner.line, inner.columns, inner.source_line) == (4, (8, 13), "    y = x * 2 + 1")
    assert inner.inside == (outer.number,)
    assert traced.expressions[number_of(traced, "x")].is_name


def test_preserves_notebook():
    function = cell("n = 0\ndef f(x):\n    global n\n    n = n + 1\n    return x * n")
    traced = Traced(function)
    traced.run(CASE)
    assert function.__globals__["n"] == 0
    assert "__record__" not in function.__globals__


def test_does_not_change_replacement_values():
    traced = Traced(cell("def f(x):\n    x += 1\n    return x"))
    before = X.clone()
    traced.run(CASE)
    assert same(X, before)
    right = X.clone()
    traced.run(CASE, {number_of(traced, "x += 1"): right})
    assert same(right, before)


@pytest.mark.parametrize("attempt", [torch.softmax, cell("f = lambda x: x"), max, nn.ReLU()])
def test_rejects_objects_without_own_source(attempt):
    with pytest.raises(CannotTrace):
        Traced(attempt)


def test_records_writes_into_arguments_by_name():
    source = """
def f(x, y):
    z = x + y
    z += 1
    y.mul_(2)
    x[0][1] = 3
    return z
"""
    traced = Traced(cell(source))
    trace = traced.run(Case({"x": X, "y": X}, ""))
    message = [(traced.expressions[number].text, name) for number, name in trace.writes]
    assert message == [("y.mul_(2)", "y"), ("x[0][1] = 3", "x")]


def test_records_changes_of_models():
    model = describe_model("token_mixer", mixing=torch.eye(2), embedding=torch.eye(2))
    traced = Traced(cell("def f(model):\n    x = 3\n    model.eval()\n    model.embedding.zero_()\n    return x"))
    trace = traced.run(Case({"model": model}, ""))
    message = [(traced.expressions[number].text, name) for number, name in trace.writes]
    assert message == [("model.eval()", "model"), ("model.embedding.zero_()", "model")]


def test_random_numbers_repeat_per_run_but_not_per_call():
    traced = Traced(cell("def f(x):\n    return x * torch.rand(2, 3)"))
    first, second = traced.run_twice(CASE)
    assert same(first.output, traced.run(CASE).output)
    assert not same(first.output, second.output)


def test_unwatched_run_returns_same_and_records_nothing():
    traced = Traced(cell("def f(x):\n    return x * 2"))
    trace = traced.run(CASE, is_watched=False)
    assert same(trace.output, X * 2)
    assert trace.events == []


@pytest.mark.parametrize(
    "value", ["x.to(torch.complex64)", "[[[[1]]]]", "list(range(99))", "torch.ones(9999)", "'text'"]
)
def test_ignores_large_and_unsupported_values(value):
    traced = Traced(cell(f"def f(x):\n    y = {value}\n    return x"))
    assert values_of(traced, value, traced.run(CASE)) == []


def test_limits_size_of_recording():
    traced = Traced(
        cell("def f(x):\n    for _ in range(9999):\n        x = x + torch.ones(40, 3).sum(0)\n    return x")
    )
    events = traced.run(CASE).events
    assert len(events) <= MAX_EVENTS
    traced = Traced(cell("def f(x):\n    for _ in range(99):\n        y = torch.ones(4000) + 1\n    return x"))
    assert sum(event.value.numel() for event in traced.run(CASE).events if isinstance(event.value, torch.Tensor)) <= (
        MAX_RECORDED_NUMBERS
    )


def test_exit_is_a_crash():
    assert Traced(cell("def f(x):\n    raise SystemExit(3)")).run(CASE).error == ("SystemExit", "3")


def test_rejects_long_code():
    with pytest.raises(CannotTrace, match="more than"):
        Traced(cell("def f(x):\n" + "    x = x + 1\n" * MAX_EXPRESSIONS + "    return x"))

"""Tests for finding an attempt's functions and the notebook's variables and functions that it uses."""

import functools

import pytest
import torch
from torch import nn

from transformer_course.running.introspect import functions_of, notebook_dependencies


def notebook(source, **variables):
    """Run a cell in a notebook that already has some variables, and return all variables."""
    namespace = {"__name__": "__main__", "torch": torch, "nn": nn, **variables}
    exec(source, namespace)
    return namespace


def reads(source, name="f", **variables):
    return notebook_dependencies(notebook(source, **variables)[name])["reads"]


def unfinished(source, name="f", **variables):
    return notebook_dependencies(notebook(source, **variables)[name])["unfinished"]


@pytest.mark.parametrize(
    "value", [3, 2.5, True, "word", [1], (1,), {1: 2}, {1}, torch.ones(2), nn.Parameter(torch.ones(2))]
)
def test_finds_notebook_variables(value):
    assert reads("def f(x): return x * d_k", d_k=value) == ["d_k"]


def test_lists_each_name_once_in_order_of_code():
    assert reads("def f(x): return keys @ x * d_k + keys", d_k=3, keys=torch.ones(2)) == ["keys", "d_k"]


@pytest.mark.parametrize(
    "source",
    [
        "def f(d_k): return d_k",
        "def f(x):\n    d_k = len(x)\n    return d_k",
        "def f(x): return [d_k for d_k in x]",
        "def f(x): return x.d_k",
        "def f(x, n=d_k): return n",
        "def f(x: d_k) -> d_k: return x",
        "def f(x):\n    'd_k'\n    return missing",
        "from torch import relu as d_k\ndef f(x): return d_k(x)",
        "import math as d_k\ndef f(x): return d_k.sqrt(x)",
        "class d_k: ...\ndef f(x): return d_k",
        "d_k = nn.Softmax(dim=-1)\ndef f(x): return d_k(x)",
        "from math import pi, inf\ndef f(x): return pi * x + inf",
        "EPS = 1e-9\ndef f(x): return x + EPS",
    ],
)
def test_ignores_names_that_are_not_notebook_data(source):
    assert reads(source, d_k=3) == []


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return sum(d_k for _ in x)",
        "f = lambda x: x * d_k",
        "def f(x):\n    def g(): return d_k\n    return g()",
        "from functools import partial\ndef g(x, y): return d_k\nf = partial(g, 1)",
        "from functools import cache\n@cache\ndef f(x): return d_k",
        "f = torch.no_grad()(lambda x: d_k)",
        "class f(nn.Module):\n    def forward(self, x): return x * d_k",
        "class f:\n    @staticmethod\n    def g(x): return x * d_k",
        "class C:\n    def __call__(self, x): return x * d_k\nf = C()",
        "def g(x): return h(x)\ndef h(x): return d_k\ndef f(x): return g(x)",
        "def f(x): return f(d_k)",
    ],
)
def test_finds_variables_in_all_kinds_of_attempts(source):
    assert reads(source, d_k=3) == ["d_k"]


def test_ignores_variables_from_imported_modules():
    assert reads("def f(x): return d_k", d_k=3, __name__="helpers") == []


@pytest.mark.parametrize(
    "body",
    [
        "...",
        "pass",
        "'''The purpose.'''",
        "raise NotImplementedError",
        "raise NotImplementedError()",
        "'''The purpose.'''\n    raise NotImplementedError",
        "# nothing yet\n    return",
    ],
)
def test_function_without_body_is_unfinished(body):
    source = f"def g(x: int) -> int:\n    {body}\n\ndef f(x): return g(x)"
    assert unfinished(source) == ["g"]


@pytest.mark.parametrize("body", ["return 3", "x", "return x", "raise ValueError", "return NotImplementedError"])
def test_function_with_body_is_finished(body):
    assert unfinished(f"def g(x):\n    {body}\ndef f(x): return g(x)") == []


def test_finds_unfinished_function_called_by_helper():
    assert unfinished("def h(x): ...\ndef g(x): return h(x) + 1\ndef f(x): return g(x)") == ["h"]


def test_unfinished_function_does_not_list_itself():
    assert unfinished("def f(x): raise NotImplementedError") == []


def test_finds_functions_inside_decorators_and_partials():
    @functools.wraps(test_lists_each_name_once_in_order_of_code)
    def wrapper():
        return 1

    original = wrapper.__wrapped__
    assert functions_of(wrapper) == [original]
    assert functions_of(functools.partial(functools.partial(original, 1), 2)) == [original]


def test_finds_methods_of_class_but_not_of_torch():
    class Base(nn.Module):
        def forward(self, x):
            return x

    class Derived(Base):
        @classmethod
        def named(cls):
            return cls

    assert {function.__name__ for function in functions_of(Derived)} == {"forward", "named"}
    assert {function.__name__ for function in functions_of(Derived())} == {"forward", "named"}


@pytest.mark.parametrize("attempt", [None, 3, "softmax", torch.softmax, nn.Linear(2, 3), object()])
def test_object_without_source_has_no_dependencies(attempt):
    assert notebook_dependencies(attempt) == {"reads": [], "unfinished": []}


def test_object_that_raises_on_inspection_has_no_dependencies():
    class Raises:
        def __getattribute__(self, name):
            raise ValueError(name)

    assert notebook_dependencies(Raises()) == {"reads": [], "unfinished": []}

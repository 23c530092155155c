"""What an attempt is made of, and what it takes from the notebook around it."""

import functools

import pytest
import torch
from torch import nn

from transformer_course.running.introspect import functions_of, notebook_dependencies


def notebook(source, **around):
    """Run a cell in a notebook that holds some things already."""
    namespace = {"__name__": "__main__", "torch": torch, "nn": nn, **around}
    exec(source, namespace)
    return namespace


def reads(source, name="f", **around):
    return notebook_dependencies(notebook(source, **around)[name])["reads"]


def unfinished(source, name="f", **around):
    return notebook_dependencies(notebook(source, **around)[name])["unfinished"]


@pytest.mark.parametrize(
    "value", [3, 2.5, True, "word", [1], (1,), {1: 2}, {1}, torch.ones(2), nn.Parameter(torch.ones(2))]
)
def test_data_of_the_notebook_is_named(value):
    assert reads("def f(x): return x * d_k", d_k=value) == ["d_k"]


def test_each_name_is_named_once_in_the_order_of_the_code():
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
def test_what_is_no_data_of_the_notebook_is_not(source):
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
def test_it_is_seen_wherever_it_is_read(source):
    assert reads(source, d_k=3) == ["d_k"]


def test_modules_other_than_the_notebook_may_read_what_they_like():
    assert reads("def f(x): return d_k", d_k=3, __name__="helpers") == []


@pytest.mark.parametrize(
    "body",
    [
        "...",
        "pass",
        "'''What it is for.'''",
        "raise NotImplementedError",
        "raise NotImplementedError()",
        "'''What it is for.'''\n    raise NotImplementedError",
        "# nothing yet\n    return",
    ],
)
def test_a_function_without_a_body_is_unfinished(body):
    source = f"def g(x: int) -> int:\n    {body}\n\ndef f(x): return g(x)"
    assert unfinished(source) == ["g"]


@pytest.mark.parametrize("body", ["return 3", "x", "return x", "raise ValueError", "return NotImplementedError"])
def test_a_function_with_a_body_is_not(body):
    assert unfinished(f"def g(x):\n    {body}\ndef f(x): return g(x)") == []


def test_the_unfinished_is_found_behind_the_finished():
    assert unfinished("def h(x): ...\ndef g(x): return h(x) + 1\ndef f(x): return g(x)") == ["h"]


def test_an_unfinished_function_is_not_among_what_it_calls_itself():
    assert unfinished("def f(x): raise NotImplementedError") == []


def test_functions_are_found_below_decorators_and_partial_arguments():
    @functools.wraps(test_each_name_is_named_once_in_the_order_of_the_code)
    def wrapper():
        return 1

    original = wrapper.__wrapped__
    assert functions_of(wrapper) == [original]
    assert functions_of(functools.partial(functools.partial(original, 1), 2)) == [original]


def test_of_a_class_the_own_methods_count_and_those_of_torch_do_not():
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
def test_what_has_no_source_of_its_own_takes_nothing(attempt):
    assert notebook_dependencies(attempt) == {"reads": [], "unfinished": []}


def test_an_object_that_raises_when_it_is_inspected_takes_nothing():
    class Raises:
        def __getattribute__(self, name):
            raise ValueError(name)

    assert notebook_dependencies(Raises()) == {"reads": [], "unfinished": []}

"""Results and attempts that are deliberately broken or malicious."""

import sys

import torch
from torch import Tensor, nn

from transformer_course.lesson import notebook


class Raises:
    """An object for which every operation raises an exception."""

    def __getattribute__(self, name):
        raise ValueError(name)

    def __repr__(self):
        raise ValueError("no repr")

    __eq__ = __len__ = __iter__ = __bool__ = __float__ = __repr__
    __hash__ = None


class HostileTensor(Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise ValueError("hands off")


class UnreadableError(Exception):
    def __str__(self):
        raise ValueError("no message")


class CountsCalls:
    """A softmax whose first ``n_correct`` calls are correct. Later calls return the result of ``then``."""

    def __init__(self, n_correct, then):
        self.n_calls, self.n_correct, self.then = 0, n_correct, then

    def __call__(self, scores):
        self.n_calls += 1
        return torch.softmax(scores, -1) if self.n_calls <= self.n_correct else self.then(scores)


def recursive_list():
    items = []
    items.append(items)
    return items


def nested_list(depth):
    nested = []
    for _ in range(depth):
        nested = [nested]
    return nested


def raises(error):
    raise error


def spins(_=None):
    while True:
        pass


def spins_and_catches_exceptions(_):
    while True:
        try:
            sum(range(1000))
        except Exception:
            continue


def recurses(scores):
    return recurses(scores)


def checks_itself(scores):
    return notebook.check(checks_itself, "softmax")


def uses_its_own_part(scores):
    return notebook.parts.softmax(scores)


def requests_a_hint(scores):
    notebook.hint(requests_a_hint, "softmax")
    return torch.softmax(scores, -1)


def changes_its_argument(scores):
    return scores.copy_(torch.softmax(scores, -1))


def resizes_its_argument(scores):
    right = torch.softmax(scores, -1)
    scores.resize_(0)
    return right


def prints(scores):
    for _ in range(1000):
        print("line " * 20)
    return torch.zeros(())


def yields(scores):
    yield torch.softmax(scores, -1)


RESULTS = {
    "a hostile object": Raises(),
    "a hostile class": Raises,
    "a subclass of tensors": torch.ones(3).as_subclass(HostileTensor),
    "a parameter": nn.Parameter(torch.ones(3)),
    "a huge expanded tensor": torch.zeros(1).expand(10**12),
    "a meta tensor": torch.empty(3, device="meta"),
    "a sparse tensor": torch.eye(3).to_sparse(),
    "complex numbers": torch.ones(3, dtype=torch.complex64).conj(),
    "nan": torch.full((3,), torch.nan),
    "infinities": torch.full((3,), -torch.inf),
    "nothing": torch.empty(0),
    "half precision": torch.ones(3).half(),
    "booleans": torch.ones(3, dtype=torch.bool),
    "a huge integer": 10**5000,
    "a large range": range(10**15),
    "a generator": (n for n in range(3)),
    "a dict with other keys": {1: 2, None: 3},
    "a dict": {"a": torch.ones(2), "b": [1, 2.0, None]},
    "a list that contains itself": recursive_list(),
    "a deeply nested list": nested_list(900),
    "a very deeply nested list": nested_list(100_000),
    "a lone surrogate": "\ud800",
    "bytes": b"\x00",
    "a module": torch,
    "a class": nn.Linear,
    "html": "<script>alert(1)</script>",
    "numbers in a list": [0.2, 0.3, 0.5],
}

ATTEMPTS = {
    "exits": lambda scores: sys.exit(1),
    "raises a base exception": lambda scores: raises(BaseException("base")),
    "raises GeneratorExit": lambda scores: raises(GeneratorExit()),
    "raises an unreadable error": lambda scores: raises(UnreadableError()),
    "raises a long error": lambda scores: raises(ValueError("x" * 10**6)),
    "raises an error with markup": lambda scores: raises(ValueError("<b>`x`</b>\n    \ud800")),
    "raises an error without a message": lambda scores: raises(ValueError()),
    "takes no argument": lambda: 0,
    "takes too many arguments": lambda a, b, c: 0,
    "spins": spins,
    "spins and catches exceptions": spins_and_catches_exceptions,
    "recurses": recurses,
    "checks itself": checks_itself,
    "uses its own part": uses_its_own_part,
    "requests a hint": requests_a_hint,
    "changes its argument": changes_its_argument,
    "resizes its argument": resizes_its_argument,
    "prints": prints,
    "yields": yields,
    "fails at the second call": CountsCalls(1, lambda scores: raises(ValueError("second"))),
    "fails when it is timed": CountsCalls(16, lambda scores: raises(ValueError("third"))),
    "spins when it is timed": CountsCalls(16, spins),
    "is a string": "softmax",
    "is None": None,
    "is a number": 3,
    "is a result": torch.ones(3),
    "is a Python module": torch,
    "is an instance": nn.Linear(2, 3),
    "is a class": dict,
    "is hostile": Raises(),
}

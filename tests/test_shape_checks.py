"""A call is checked unless one of its kind has passed before: what is remembered lets nothing wrong through."""

from collections.abc import Callable
from typing import Any, Literal

import pytest
import torch
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float, Int, TypeCheckError, jaxtyped
from torch import Tensor, nn

from transformer_lab import shape_checks
from transformer_lab.shape_checks import check_once

checked = jaxtyped(typechecker=check_once)


@checked
def scores(q: Float[Tensor, "n d"], k: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    return q @ k.mT


@checked
def first(x: Float[Tensor, "n d"], n_rows: int, wrong: bool = False) -> Float[Tensor, "{n_rows} d"]:
    return x[: n_rows - wrong]


@checked
def lengths(texts: list[Int[Tensor, " n"]], side: Literal["left", "right"] = "right") -> list[int]:
    return [len(text) for text in texts]


@checked
def scaled(module: nn.Linear, by: float) -> float:
    return module.in_features * by


def counted(monkeypatch) -> list[str]:
    """Note which functions beartype really checks."""
    calls = []

    def beartype(conf: object) -> Callable[..., Any]:
        return lambda function: lambda *args, **keywords: calls.append(function.__name__)

    monkeypatch.setattr(shape_checks, "beartype", beartype)
    return calls


@pytest.mark.parametrize(
    "call",
    [
        lambda: scores(torch.zeros(2, 3), torch.zeros(5, 4)),
        lambda: scores(torch.zeros(2, 3), torch.zeros(5, 3, dtype=torch.int64)),
        lambda: scores(torch.zeros(1, 2, 3), torch.zeros(5, 3)),
        lambda: scores(torch.zeros(2, 3), None),
        lambda: scores(q=torch.zeros(2, 3), k=torch.zeros(5, 4)),
        lambda: first(torch.zeros(7, 3), 2, wrong=True),
        lambda: first(torch.zeros(7, 3), 9),
        lambda: first(torch.zeros(7, 3), 2.0),
        lambda: lengths([torch.zeros(3)]),
        lambda: lengths([torch.ones(3).long()], "middle"),
        lambda: scaled(nn.Identity(), 2.0),
        lambda: scaled(nn.Linear(2, 3), "2"),
    ],
)
def test_a_wrong_call_is_found_after_right_ones(call):
    for _ in range(2):
        scores(torch.zeros(2, 3), torch.zeros(5, 3))
        scores(q=torch.zeros(2, 3), k=torch.zeros(5, 3))
        first(torch.zeros(7, 3), 2)
        lengths([torch.ones(3).long()])
        scaled(nn.Linear(2, 3), 2)  # where a float is wanted, an int will do
        with pytest.raises(TypeCheckError):
            call()


def test_a_call_of_the_same_kind_is_checked_once(monkeypatch):
    calls = counted(monkeypatch)
    check = check_once(scores)
    for _ in range(3):
        check(torch.rand(2, 3), torch.rand(5, 3))
    assert calls == ["scores"]
    check(torch.rand(2, 3), torch.rand(5, 4))
    check(torch.rand(2, 3), k=torch.rand(5, 3))
    check(torch.rand(2, 3), torch.rand(5, 3).double())
    check(torch.rand(2, 3), nn.Parameter(torch.rand(5, 3)))
    check(1, 1.0)
    check(True, 1)  # which are equal, and not of one type
    assert len(calls) == 7


def test_what_has_items_is_checked_each_time(monkeypatch):
    calls = counted(monkeypatch)
    check = check_once(lengths)
    for _ in range(3):
        check([torch.rand(2)])
    assert len(calls) == 3


def test_a_failed_call_is_not_remembered():
    check = check_once(lambda x: None)
    assert check(1) is None

    def wants_text(x: str) -> None: ...

    check = check_once(wants_text)
    for _ in range(2):
        with pytest.raises(BeartypeCallHintViolation):
            check(1)


def test_so_many_kinds_are_remembered_at_most(monkeypatch):
    monkeypatch.setattr(shape_checks, "MOST", 3)
    calls = counted(monkeypatch)
    check = check_once(scores)
    for n in [*range(5), *range(5)]:
        check(n)
    assert len(calls) > 5

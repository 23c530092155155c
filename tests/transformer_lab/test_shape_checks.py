"""Tests that shape checks reject every wrong call, although they skip calls similar to a call that passed before."""

import sys
from collections.abc import Callable
from typing import Any, Literal

import jaxtyping
import pytest
import torch
from beartype import beartype
from jaxtyping import Float, Int, TypeCheckError
from torch import Tensor, nn

from transformer_lab import shape_checks
from transformer_lab.shape_checks import check_once, checked


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
def scaled(module: nn.Linear, factor: float) -> Float[Tensor, " n"]:
    return module.bias * factor


def record_checks(monkeypatch) -> list[str]:
    """Record the names of the functions whose calls are checked."""
    calls = []

    def jaxtyped(typechecker: object) -> Callable[..., Any]:
        return lambda function: (
            lambda *args, **keywords: [calls.append(function.__name__), function(*args, **keywords)][1]
        )

    monkeypatch.setattr(shape_checks, "_JAXTYPED", jaxtyped)
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
def test_rejects_wrong_calls_after_valid_calls(call):
    for _ in range(2):
        scores(torch.zeros(2, 3), torch.zeros(5, 3))
        scores(q=torch.zeros(2, 3), k=torch.zeros(5, 3))
        first(torch.zeros(7, 3), 2)
        lengths([torch.ones(3).long()])
        scaled(nn.Linear(2, 3), 2)  # an int is accepted where a float is annotated
        with pytest.raises(TypeCheckError):
            call()


def test_checks_similar_calls_once(monkeypatch):
    calls = record_checks(monkeypatch)
    check = check_once(lambda *args, **keywords: None)
    for _ in range(3):
        check(torch.rand(2, 3), torch.rand(5, 3))
    assert len(calls) == 1
    check(torch.rand(2, 3), torch.rand(5, 4))
    check(torch.rand(2, 3), k=torch.rand(5, 3))
    check(torch.rand(2, 3), torch.rand(5, 3).double())
    check(torch.rand(2, 3), nn.Parameter(torch.rand(5, 3)))
    check(1, 1.0)
    check(True, 1)  # equal to (1, 1.0), but the types differ
    assert len(calls) == 7


def test_checks_collections_every_time(monkeypatch):
    calls = record_checks(monkeypatch)
    given, returned = check_once(len), check_once(lambda n: [torch.rand(n)])
    for _ in range(3):
        given([torch.rand(2)])
    assert len(calls) == 3
    for _ in range(3):
        returned(2)
    assert len(calls) == 6


def test_checks_different_result_without_calling_again():
    widths = []

    @check_once
    def narrow(x: Float[Tensor, "n d"]) -> Float[Tensor, "n 1"]:
        widths.append(1 + len(widths) // 2)
        return x[:, : widths[-1]]

    for _ in range(2):
        narrow(torch.zeros(4, 3))
    with pytest.raises(TypeCheckError, match=r"return value of .*narrow"):
        narrow(torch.zeros(4, 3))
    assert widths == [1, 1, 2]


def test_does_not_cache_failed_call():
    @check_once
    def takes_text(x: str) -> None: ...

    for _ in range(2):
        with pytest.raises(TypeCheckError):
            takes_text(1)


def test_limits_size_of_call_cache(monkeypatch):
    monkeypatch.setattr(shape_checks, "MAX_CACHED_CALLS", 3)
    calls = record_checks(monkeypatch)
    check = check_once(lambda n: None)
    for n in [*range(5), *range(5)]:
        check(n)
    assert len(calls) > 5


def test_checks_only_shape_annotations(tmp_path, monkeypatch):
    (tmp_path / "with_shapes_and_without.py").write_text("""
from collections.abc import Callable
from typing import Literal
from jaxtyping import Float
from torch import Tensor

Vector = Float[Tensor, " n"]

def plain(n: int, side: Literal["left", "right"] = "left") -> list[int]: return [n]
def direct(x: Float[Tensor, "n n"]) -> None: ...
def in_a_list(x: list[Vector] | None) -> None: ...
def of_a_callable(x: Callable[[Vector], int]) -> None: ...
def returned() -> tuple[int, Vector]: return 1, 2
def not_evaluated(x: "Vector") -> None: ...
class Layer:
    def forward(self, x: Vector) -> Vector: return x[1:]
""")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.meta_path", [*sys.meta_path])
    shape_checks.install("with_shapes_and_without")
    import with_shapes_and_without as module

    names = ("plain", "direct", "in_a_list", "of_a_callable", "returned", "not_evaluated")
    assert [hasattr(getattr(module, name), "__wrapped__") for name in names] == [False] + 5 * [True]
    for wrong in (
        lambda: module.direct(torch.zeros(2, 3)),
        lambda: module.in_a_list([torch.zeros(2, 3)]),
        module.returned,
        lambda: module.Layer().forward(torch.zeros(2)),
    ):
        with pytest.raises(TypeCheckError):
            wrong()
    assert module.plain("unchecked") == ["unchecked"]


def test_leaves_jaxtyping_unchanged_for_other_packages():
    @jaxtyping.jaxtyped(typechecker=beartype)
    def plain(n: int) -> int:
        return n

    with pytest.raises(TypeCheckError):
        plain("not a number")
    with jaxtyping.jaxtyped("context"):
        assert isinstance(torch.zeros(2, 3), Float[Tensor, "n d"])
        assert not isinstance(torch.zeros(3, 3), Float[Tensor, "n d"])

"""Tests that crash reports contain the exception's message on one line, and the learner's line."""

import functools
import linecache

import pytest
import torch
from beartype import beartype
from jaxtyping import Bool, Float, jaxtyped
from torch import Tensor, nn

from tests.transformer_course.cells import cell
from transformer_course.running.crash_report import describe_crash
from transformer_course.running.introspect import files_of

checked = jaxtyped(typechecker=beartype)


def crash(function, *arguments):
    try:
        function(*arguments)
    except BaseException as error:
        return describe_crash(error, files_of(function))
    raise AssertionError("the function did not raise an exception")


def test_reports_line_in_learner_code():
    f = cell("def f(x):\n    y = x + 1\n    return y.nothing  # here")
    assert crash(f, torch.ones(2)) == {
        "type": "AttributeError",
        "message": "'Tensor' object has no attribute 'nothing'",
        "line": 3,
        "code": "return y.nothing  # here",
    }


def test_reports_line_in_learner_code_if_torch_raises():
    f = cell("def f(x):\n    return nn.Linear(2, 3)(x)")
    assert crash(f, torch.ones(5))["code"] == "return nn.Linear(2, 3)(x)"


def test_reports_innermost_line_in_learner_code():
    f = cell("def g(x):\n    return x / 0\ndef f(x):\n    return g(x)")
    assert crash(f, 1)["line"] == 2


def test_finds_line_inside_decorators_partials_and_classes():
    f = cell("@torch.no_grad()\ndef f(x, y):\n    return x / y")
    assert crash(f, 1, 0)["line"] == 3
    assert crash(functools.partial(f, 1), 0)["line"] == 3
    module = cell("class f(nn.Module):\n    def forward(self, x):\n        return x / 0")
    assert crash(module(), 1)["line"] == 3


def test_error_outside_learner_code_has_no_line():
    assert crash(torch.softmax, 3).keys() == {"type", "message"}


def test_error_without_readable_message_has_type():
    class Unreadable(Exception):
        def __str__(self):
            raise ValueError

    def f():
        raise Unreadable

    report = crash(f)
    assert (report["type"], report["message"]) == ("Unreadable", "")


def test_syntax_error_has_invalid_line():
    source = "def f(x):\n    return x +"
    linecache.cache["<cell 7>"] = (len(source), None, source.splitlines(keepends=True), "<cell 7>")
    with pytest.raises(SyntaxError) as caught:
        compile(source, "<cell 7>", "exec")
    assert describe_crash(caught.value, {"<cell 7>"}) == {
        "type": "SyntaxError",
        "message": "invalid syntax",
        "line": 2,
        "code": "return x +",
    }
    assert describe_crash(caught.value, {"<cell 8>"}).keys() == {"type", "message"}


@checked
def mix(
    weights: Float[Tensor, "*batch n_query n_key"],
    values: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "*#batch #n_query #n_key"] | None = None,
    times: int = 1,
) -> Float[Tensor, "*batch n_query d_v"]:
    return weights @ values if times else weights


class Layer(nn.Module):
    @checked
    def forward(self, x: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
        return x


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (torch.ones(2, 3), torch.ones(5, 7)),
            "mix takes `values` as a float tensor of shape (*batch, n_key=3, d_v); it got float32 of shape (5, 7)",
        ),
        (
            (torch.ones(2, 3), torch.ones(3, 7), torch.ones(2, 3)),
            "mix takes `mask` as a bool tensor of shape (*batch, n_query=2, n_key=3) | None; "
            "it got float32 of shape (2, 3)",
        ),
        (
            (torch.ones(3), torch.ones(3, 7)),
            "mix takes `weights` as a float tensor of shape (*batch, n_query, n_key); it got float32 of shape (3,)",
        ),
        (
            (torch.ones(2, 3).long(), torch.ones(3, 7)),
            "mix takes `weights` as a float tensor of shape (*batch, n_query, n_key); it got int64 of shape (2, 3)",
        ),
        (
            ([0.5, 0.5], torch.ones(3, 7)),
            "mix takes `weights` as a float tensor of shape (*batch, n_query, n_key); it got [0.5, 0.5]",
        ),
        ((torch.ones(2, 3), torch.ones(3, 7), None, 1.5), "mix takes `times` as int; it got 1.5"),
        (
            (torch.ones(2, 3), torch.ones(3, 7), None, 0),
            "mix should give back a float tensor of shape (*batch, n_query=2, d_v=7); it got float32 of shape (2, 3)",
        ),
    ],
)
def test_shortens_jaxtyping_report_to_one_line(arguments, message):
    assert crash(lambda: mix(*arguments))["message"] == message


def test_wrong_argument_to_forward_names_module():
    assert crash(lambda: Layer()(torch.ones(2, 3)))["message"].startswith(
        "Layer takes `x` as a float tensor of shape (d,);"
    )


def test_reports_wrong_argument_to_library_function():
    from transformer_lab.attention.dot_product import scaled_dot_product_attention

    report = crash(lambda: scaled_dot_product_attention(torch.ones(2, 3), torch.ones(4, 3), torch.ones(5, 7)))
    assert report["type"] == "TypeCheckError"
    assert report["message"] == (
        "scaled_dot_product_attention takes `v` as a float tensor of shape (*batch, n_key=4, d_v); "
        "it got float32 of shape (5, 7)"
    )


def test_shortens_unknown_report_to_first_line():
    from jaxtyping import TypeCheckError

    def f():
        raise TypeCheckError("Something new.\nIn many\nlines.")

    assert crash(f)["message"] == "Something new."

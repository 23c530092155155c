"""Tests for underlining the faulty expression in its line."""

from tests.transformer_course.locating.fault_in import fault_in
from transformer_course.locating.fault import MAX_LINE_LENGTH


def test_shortens_long_line_around_expression():
    long = "(queries + 0) @ (keys + 0).mT / (keys.shape[-1] + 0 * len(queries) + 0 * len(keys)) ** 0.5"
    fault = fault_in(f"return torch.softmax(({long}) * 1.7 + 0 * queries.sum() + 0 * keys.sum(), -1) @ (values + 0)")
    displayed, under = fault.message.splitlines()[-2:]
    assert displayed.startswith("    line 2:  ")
    assert len(displayed) <= len("    line 2:  …  …") + MAX_LINE_LENGTH
    assert len(under) <= len(displayed)
    assert fault.expression.text.startswith(displayed[under.index("^") : under.rindex("^") + 1].rstrip("…").rstrip())

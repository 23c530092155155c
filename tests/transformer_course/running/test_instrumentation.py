"""Tests for numbering expressions, and for the calls that instrumented code makes."""

import ast

import pytest

from transformer_course.running.instrumentation import (
    MAX_EXPRESSIONS,
    RECORD,
    REPLACE,
    CannotTrace,
    Definition,
    instrumented,
    number_expressions,
)


def definition_of(source):
    return Definition(ast.parse(source).body[-1], source, "<cell 1>")


def expressions_in(source):
    return number_expressions(definition_of(source), first=0)[1]


def call(source, *arguments, replacements=()):
    """Call the instrumented function ``f``, and return its result and the recorded values, keyed by source text."""
    definition = definition_of(source)
    _, expressions = number_expressions(definition, first=0)
    by_text = {expression.text: expression.number for expression in expressions}
    values = {by_text[text]: value for text, value in dict(replacements).items()}
    recorded = {}

    def record(number, value):
        recorded.setdefault(expressions[number].text, []).append(value)
        return value

    scope = {RECORD: record, REPLACE: values.__getitem__}
    exec(compile(instrumented(definition, frozenset(values)), "<cell 1>", "exec"), scope)
    return scope["f"](*arguments), recorded


def test_expression_has_position_and_containing_expressions():
    expressions = expressions_in("import math\n\ndef f(x):\n    y = x * 2 + 1\n    return y")
    by_text = {expression.text: expression for expression in expressions}
    inner, outer = by_text["x * 2"], by_text["x * 2 + 1"]
    assert (inner.file, inner.line, inner.columns, inner.source_line) == ("<cell 1>", 4, (8, 13), "    y = x * 2 + 1")
    assert inner.inside == (outer.number,)
    assert by_text["x"].inside == (inner.number, outer.number)
    assert (inner.kind, inner.is_name, by_text["x"].is_name) == ("BinOp", False, True)


def test_inner_expressions_come_first():
    texts = [expression.text for expression in expressions_in("def f(x):\n    return -(x * 2)[0]")]
    assert texts == ["x", "2", "x * 2", "(x * 2)[0]", "-(x * 2)[0]"]


def test_columns_count_characters_not_bytes():
    [*_, total] = expressions_in("def f(x, é):\n    é = 'é' + x; return é + 1")
    assert total.text == "é + 1"
    assert total.source_line[slice(*total.columns)] == "é + 1"


def test_expression_text_may_span_lines():
    [*_, total] = expressions_in("def f(x):\n    return (x +\n            1)")
    assert (total.text, total.line, total.columns) == ("x +\n            1", 2, (12, 15))


def test_numbers_continue_from_first():
    nodes, expressions = number_expressions(definition_of("def f(x):\n    return x + 1"), first=7)
    assert [expression.number for expression in expressions] == [7, 8, 9]
    assert len(nodes) == 3


@pytest.mark.parametrize(
    ("statement", "ignored"),
    [
        ("y: list[int] = x", "list[int]"),
        ("y = f'{x + 1}'", "x + 1"),
        ("y = torch.ones(x)", "torch"),
        ("y = 'text'", "'text'"),
        ("y = True", "True"),
        ("import math", "math"),
    ],
)
def test_ignores_code_that_computes_no_value(statement, ignored):
    assert ignored not in [expression.text for expression in expressions_in(f"def f(x):\n    {statement}")]


def test_records_every_evaluation():
    total, recorded = call("def f(x):\n    t = 0\n    for v in x:\n        t = t + v\n    return t", [1, 2])
    assert total == 3
    assert recorded["v"] == [1, 2]
    assert recorded["t + v"] == [1, 3]


def test_records_value_after_in_place_statement():
    _, recorded = call("def f(x):\n    x += [1]\n    x[0] = 5\n    return x", [4])
    assert recorded["x[0] = 5"] == [[5, 1]]
    assert "x += [1]" in recorded


def test_does_not_evaluate_replaced_expression():
    result, recorded = call("def f(x):\n    return (x / 0) + 1", 2, replacements={"x / 0": 5})
    assert result == 6
    assert "x / 0" not in recorded and "0" not in recorded


def test_replaces_value_of_in_place_statement():
    result, _ = call("def f(x):\n    x += 1\n    return x", 2, replacements={"x += 1": 9})
    assert result == 9


def test_instrumenting_preserves_the_definition():
    definition = definition_of("def f(x):\n    x += 1\n    return x")
    number_expressions(definition, first=0)
    before = ast.unparse(definition.node)
    instrumented(definition, frozenset([0]))
    assert ast.unparse(definition.node) == before


def test_rejects_long_code():
    source = "def f(x):\n" + "    x = x + 1\n" * MAX_EXPRESSIONS + "    return x"
    with pytest.raises(CannotTrace, match="more than"):
        number_expressions(definition_of(source), first=0)

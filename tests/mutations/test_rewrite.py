"""Code is found by its shape, in one place only, and what takes its place fits in."""

import ast
import doctest
import sys

import pytest

from tests.mutations.rewrite import rewrite

CODE = """
import math

class Attention:
    def forward(self, query, keys, mask=None):
        scores = query @ keys.mT / math.sqrt(keys.shape[-1])  # a comment
        if mask is not None:
            scores = scores.masked_fill(~mask, value=-math.inf)
        weights = self.softmax(scores, -1, dtype=None)
        for head in self.heads:
            weights = head(weights)
            self.heads.sort()
        return weights, keys

def other(query, keys):
    return query @ keys.mT
"""
WHERE = "Attention.forward"


def rewritten(old: str, new: str, where: str = WHERE) -> list[str]:
    """Return the lines that differ."""
    module = ast.parse(CODE)
    before, after = (ast.unparse(tree).splitlines() for tree in (module, rewrite(module, where, old, new)))
    assert ast.unparse(module).splitlines() == before, "the tree itself was changed"
    return [line.strip() for line in after if line not in before]


def test_the_docstring_shows_what_happens():
    assert doctest.testmod(sys.modules[rewrite.__module__]) == (0, 2)


def test_an_expression_is_found_whatever_its_variables_are_called():
    assert rewritten("_q @ _k.mT / math.sqrt(_k.shape[-1])", "_q @ _k.mT") == ["scores = query @ keys.mT"]


def test_a_placeholder_that_stands_twice_means_the_same():
    with pytest.raises(ValueError, match=r"found 0, that matches: _q @ _q\.mT"):
        rewritten("_q @ _q.mT", "_q")


def test_an_underscore_stands_for_anything():
    assert rewritten("_ @ _ / _root", "_root") == ["scores = math.sqrt(keys.shape[-1])"]


def test_further_arguments_are_kept_and_named_ones_may_come_in_any_order():
    assert rewritten("self.softmax(_x, ...)", "self.softmax(-_x, ...)") == [
        "weights = self.softmax(-scores, -1, dtype=None)"
    ]
    assert rewritten("self.softmax(_x, ..., dtype=_)", "self.softmax(_x, ...)") == [
        "weights = self.softmax(scores, -1)"
    ]
    assert rewritten("_x.masked_fill(_m, value=_v)", "_x.masked_fill(_m, _v)") == [
        "scores = scores.masked_fill(~mask, -math.inf)"
    ]


@pytest.mark.parametrize("call", ["self.softmax(_x)", "self.softmax(_x, _d)", "self.softmax(_x, dtype=_)"])
def test_arguments_that_a_pattern_does_not_allow_for_rule_a_place_out(call):
    with pytest.raises(ValueError, match="found 0"):
        rewritten(call, "_x")


def test_statements_that_follow_each_other_are_found_together():
    assert rewritten("_w = _head(_w)\nself.heads.sort()", "_w = _head(_w + 1)") == ["weights = head(weights + 1)"]


def test_a_body_is_kept():
    assert rewritten("for _h in _all: ...", "for _h in _all[:1]: ...") == ["for head in self.heads[:1]:"]


def test_a_statement_is_removed_by_pass():
    assert rewritten("self.heads.sort()", "pass") == ["pass"]


def test_what_is_outside_the_function_is_not_looked_at():
    assert rewritten("_q @ _k.mT", "_q", where="other") == ["return query"]
    with pytest.raises(ValueError, match="expected one place in the module, found 2"):
        rewritten("_q @ _k.mT", "_q", where="")


def test_a_function_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"expected one definition of Attention\.backward, found 0"):
        rewritten("_q @ _k.mT", "_q", where="Attention.backward")


def test_a_name_that_the_code_does_not_know_is_named():
    with pytest.raises(ValueError, match=r"Attention\.forward does not know values, as used in: values @ _k"):
        rewritten("_q @ _k.mT", "values @ _k")


def test_names_that_the_new_code_assigns_itself_are_known():
    new = "block = [other(x, x) for x in keys]\nreturn block"
    assert rewritten("return _w, _k", new) == ["block = [other(x, x) for x in keys]", "return block"]

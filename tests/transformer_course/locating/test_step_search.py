"""Tests for finding an expression whose replacement by a step's correct value fixes the output."""

import pytest

from tests.transformer_course.cells import cell
from tests.transformer_course.locating.fault_in import fault_in
from transformer_course.checking.expected_behavior import behavior
from transformer_course.exercises import every_exercise
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.locating.fault_location import locate
from transformer_course.running.trace import Traced


def test_finds_expression_that_computes_wrong_step():
    fault = fault_in(
        "scores = queries @ keys.mT / keys.shape[-1] ** 0.5",
        "weights = torch.softmax(scores, dim=-2)",
        "return weights @ values",
    )
    assert (fault.expression.line, fault.expression.text) == (3, "torch.softmax(scores, dim=-2)")
    assert (fault.step, fault.proven) == ("weights", True)
    assert fault.message == (
        "Line 3: here you should compute the weights. One of your rows sums to 2 instead of 1; "
        "your columns sum to 1. Fix that, and your output is right.\n"
        "    line 3:  weights = torch.softmax(scores, dim=-2)\n"
        "                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"
    )


def test_finds_expression_inside_long_expression():
    fault = fault_in(
        "return F.softmax(torch.einsum('...qd,...kd->...qk', queries, keys) / (len(keys) + 7) ** 0.5, -1) @ values"
    )
    assert (fault.expression.text, fault.step) == ("len(keys) + 7", "width")


def test_finds_name_used_instead_of_another():
    fault = fault_in("weights = torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, -1)", "return weights @ keys")
    assert (fault.expression.text, fault.step, fault.is_misplaced) == ("keys", "values", True)
    assert fault.message.startswith("Line 3: you use `keys` instead of `values`.")


def test_finds_misplaced_name_that_crashes():
    fault = fault_in(
        "scores = torch.matmul(queries, keys) / keys.shape[-1] ** 0.5", "return torch.softmax(scores, -1) @ values"
    )
    assert (fault.expression.line, fault.expression.text, fault.step) == (2, "keys", "turned")
    assert "you use `keys` instead of the transposed keys." in fault.message


def test_reports_expression_that_crashes():
    fault = fault_in(
        "weights = torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, -1)",
        "return (weights @ values) @ torch.ones(99, 98)",
    )
    assert "your code crashes here (RuntimeError)" in fault.message


def test_reports_first_of_two_mistakes():
    fault = fault_in(
        "scores = (queries + 0.1) @ keys.mT / keys.shape[-1] ** 0.5",
        "weights = torch.softmax(scores, dim=-1).round(decimals=1)",
        "return weights @ values",
    )
    assert (fault.expression.line, fault.step, fault.proven) == (2, "products", False)
    assert "is not the products" in fault.message and "There is another bug after this line." in fault.message
    assert "Put that right" not in fault.message


def test_mentions_later_mistake_only_if_proven():
    fault = fault_in("return x.transpose(1, 3).flatten(2).abs()", head="def merge_heads(x):", name="merge_heads")
    assert "is meant to be the transposed heads, it is wrong" in fault.message and not fault.proven
    assert "after it" not in fault.message


def test_does_not_suggest_step_for_different_approach():
    fault = fault_in(
        "w = (1 / n_tokens) / (1 / n_tokens).sum()",
        "return (w[:, None] * gradients).sum(0, keepdim=True).expand_as(gradients)",
        head="def all_reduce_gradients(gradients, n_tokens):",
        name="all_reduce_gradients",
    )
    assert "is meant to be the gradients of the summed losses, it is wrong. It is [[" in fault.message
    assert "The mistake is" not in fault.message and "after it" not in fault.message


def test_reports_overwritten_argument():
    fault = fault_in(
        "if keys.shape == queries.shape:",
        "    keys = queries",
        "return torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, dim=-1) @ values",
    )
    assert (fault.expression.text, fault.step, fault.proven) == ("keys", "keys", True)
    assert "here you should use `keys`, unchanged" in fault.message


def test_searches_helper_from_another_cell():
    helper = cell("def helper(s):\n    e = torch.exp2(s)\n    return e / e.sum(-1, keepdim=True)", "helper")
    fault = fault_in("return helper(queries @ keys.mT / keys.shape[-1] ** 0.5) @ values", helper=helper)
    assert fault.expression.source_line.strip().startswith(("e = ", "return e"))


def test_searches_forward_method_of_module():
    source = (
        "class EncoderLayer(nn.Module):\n"
        "    def __init__(self, d_model, n_heads, d_ff):\n"
        "        super().__init__()\n"
        "        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)\n"
        "        self.feed_forward = parts.FeedForward(d_model, d_ff)\n"
        "        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)\n"
        "    def forward(self, x, mask=None):\n"
        "        x = self.norm_1(x + self.self_attention(x, x, x, mask))\n"
        "        return self.norm_2(x + self.feed_forward(x.sin()))"
    )
    known = behavior(every_exercise()["EncoderLayer"], 0)
    assert known.expected
    fault = locate(known, Traced(cell(source, "EncoderLayer", parts=parts)))
    assert fault.expression.text in ("x.sin()", "self.feed_forward(x.sin())")
    assert fault.proven


@pytest.mark.parametrize(
    "body",
    [
        "return torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, -1) @ values",
        "d = keys.shape[-1]\n    return parts.softmax((queries / d**0.25) @ (keys / d**0.25).mT) @ values",
        "return F.scaled_dot_product_attention(queries, keys, values)",
    ],
)
def test_returns_nothing_for_correct_answer(body):
    assert fault_in(*body.split("\n    ")) is None


def test_returns_nothing_for_unproven_fault():
    assert fault_in("return 0") is None


def test_ignores_correct_value_for_another_step():
    head, *lines = (
        "def relative_bias(table, n_query, n_key):",
        "q = torch.arange(n_key - n_query, n_key).view(-1, 1)",
        "k = torch.arange(n_key).view(1, -1)",
        "index = ((k - q) + table.shape[1] // 2) % table.shape[1]",
        "return table[:, index]",
    )
    fault = fault_in(*lines, head=head, name="relative_bias")
    assert (fault.expression.line, fault.step) == (4, "columns")
    assert "rows sums" not in fault.message  # that the first row sums to 1 is a coincidence


def test_ignores_replacement_that_disables_comparison():
    head, *lines = (
        "def alibi_bias(n_heads, n_query, n_key):",
        "slope = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)",
        "q, k = torch.arange(n_query).unsqueeze(1) + n_key - n_query, torch.arange(n_key)",
        "bias = -slope[:, None, None] * (q - k).abs()",
        "return bias.masked_fill(k > q, -100.0)",
    )
    fault = fault_in(*lines, head=head, name="alibi_bias")
    assert fault is None or fault.expression.text not in ("q", "k")

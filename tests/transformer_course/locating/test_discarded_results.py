"""Tests that discarded results are reported with their line, and that calls with a side effect are ignored."""

import pytest
import torch

from tests.transformer_course.cells import cell
from transformer_course.lesson.notebook import check


@pytest.mark.parametrize(
    ("name", "source", "line", "assignment"),
    [
        (
            "merge_heads",
            """\
def merge_heads(x):
    b, h, n, d = x.shape
    x.transpose(1, 2)
    return x.reshape(b, n, h * d)""",
            "line 3:  x.transpose(1, 2)",
            "`x = x.transpose(…)`",
        ),
        (
            "scaled_dot_product_attention",
            """\
def scaled_dot_product_attention(queries, keys, values):
    scores = queries @ keys.mT
    torch.div(scores, queries.shape[-1] ** 0.5)  # scale
    return scores.softmax(-1) @ values""",
            "line 3:  torch.div(scores, queries.shape[-1] ** 0.5)",
            "`scores = torch.div(…)`",
        ),
        (
            "softmax",
            """\
def softmax(scores):
    scores - scores.amax(dim=-1, keepdim=True)
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)""",
            "line 2:  scores - scores.amax(dim=-1, keepdim=True)",
            "you don't use it",
        ),
    ],
)
def test_reports_discarded_result(name, source, line, assignment):
    verdict = check(cell(source, name, torch=torch))
    assert line in verdict.message
    assert assignment in verdict.message


@pytest.mark.parametrize(
    "statement", ["seen.add(scores.sum())", "kept.append(scores.exp())", "scores = scores.clone(); scores.mul_(2)"]
)
def test_ignores_calls_with_side_effects(statement):
    source = f"def softmax(scores):\n    seen, kept = set(), []\n    {statement}\n    return scores.softmax(0)"
    assert "don't use" not in check(cell(source, "softmax", torch=torch)).message

"""Tests for suggesting fixes for common crashes and for stubs left in the code."""

import pytest

from tests.transformer_course.cells import cell
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.lesson.notebook import check

MISSPELLED_FORWARD = """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def foward(self, x):
        return self.w_2(torch.relu(self.w_1(x)))"""
OTHER_CONSTRUCTOR = MISSPELLED_FORWARD.replace("d_model, d_ff):", "d_model, hidden):").replace("d_ff", "hidden")


@pytest.mark.parametrize(
    ("name", "source", "help"),
    [
        (
            "softmax",
            "def softmax(scores):\n    return (scores - scores.max(dim=-1, keepdim=True)).softmax(-1)",
            "`max` with a `dim` returns two tensors, the values and their indices. Use its `.values`.",
        ),
        ("softmax", "def softmax(scores):\n    return scores.sofmax(dim=-1)", "Did you mean `softmax`?"),
        ("FeedForward", MISSPELLED_FORWARD, "Your class has a method `foward`. Did you mean `forward`?"),
        (
            "FeedForward",
            OTHER_CONSTRUCTOR,
            "The check calls `FeedForward(d_model=…, d_ff=…)`, so your parameters need these names.",
        ),
        (
            "attention_weights",
            "def attention_weights(queries, keys, values):\n    return torch.softmax(queries @ keys.mT, -1) @ values",
            "The check calls `attention_weights` with the arguments `queries` and `keys`.",
        ),
        (
            "attention_weights",
            "def attention_weights(queries, keys):\n    return torch.softmax(query @ keys.mT, -1)",
            "The arguments of `attention_weights` are `queries` and `keys`.",
        ),
        (
            "alibi_bias",
            "def alibi_bias(n_heads, n_query, n_key):\n    return torch.ones(n_query, n_key).T.view(-1)",
            "Call `reshape` instead.",
        ),
    ],
)
def test_suggests_fix_for_common_crash(name, source, help):
    assert help in check(cell(source, name, parts=parts)).message


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("e = scores.exp()\n    raise NotImplementedError", 3),
        ("raise NotImplementedError()\n    return scores.exp()", 2),
    ],
)
def test_reports_line_of_stub_left_in_finished_code(body, line):
    verdict = check(cell(f"def softmax(scores):\n    {body}", "softmax"))
    assert verdict.status == "crashed"
    assert verdict.message == f"Delete `raise NotImplementedError` on your line {line}: your code stops there."


def test_untouched_stub_counts_as_not_started():
    stub = 'def softmax(scores):\n    """Return weights."""\n    raise NotImplementedError'
    assert check(cell(stub, "softmax")).status == "not_started"


def test_reports_class_written_instead_of_function():
    source = "class softmax(nn.Module):\n    def forward(self, scores):\n        return torch.softmax(scores, -1)"
    assert check(cell(source, "softmax")).message == (
        "You wrote a class. softmax should be a function: `def softmax(scores):`."
    )

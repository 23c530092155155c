"""Tests for finding random values, wrong dtypes, changed arguments and crashes."""

from tests.transformer_course.cells import cell
from tests.transformer_course.locating.fault_in import REST, SCORES, checked, fault_in
from transformer_course.exercises import every_exercise
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.lesson.session import Session


def test_reports_expression_that_introduces_dtype():
    fault = fault_in(SCORES, "weights = torch.softmax(scores, -1)", "return (weights @ values).double() * 1")
    assert fault.message.startswith(
        "Line 4: the underlined part has dtype float64 instead of float32. "
        "Fix that, and your output is right.\n    line 4:  return (weights"
    )


def test_reports_two_expressions_that_introduce_dtype():
    fault = fault_in(SCORES, "weights = torch.softmax(scores.double(), -1)", "return weights @ values.double()")
    assert fault.message.startswith(
        "Line 3: the underlined part has dtype float64 instead of float32. So does line 4, `values.double()`."
    )


def test_conversion_that_changes_numbers_counts_as_wrong_step():
    fault = fault_in("scores = (queries @ keys.mT / keys.shape[-1] ** 0.5).int().float()", *REST)
    assert fault.step == "scores"


def test_reports_expression_that_differs_in_second_call():
    fault = fault_in(SCORES, "weights = torch.softmax(scores, -1)", "return weights @ values + torch.rand(()) / 99")
    assert fault.message.startswith("Line 4: the underlined part is different when your code is called again: ")
    assert "random" in fault.hints[-1]


def test_reports_state_left_by_earlier_call():
    head = "def scaled_dot_product_attention(queries, keys, values, seen=[]):"
    fault = fault_in("seen.append(1)", f"{SCORES} * len(seen)", *REST, head=head)
    assert "the underlined part is different when your code is called again: [], and then [1]." in fault.message


def test_reports_statement_that_changes_argument():
    verdict = checked("queries /= keys.shape[-1] ** 0.5", "scores = queries @ keys.mT", *REST)
    assert verdict.mistakes == ("changes_argument",)
    assert verdict.message == (
        "Your numbers are right, but your code changes `queries` in place, although the caller may still need it.\n"
        "The argument `queries` is changed here:\n"
        "    line 2:  queries /= keys.shape[-1] ** 0.5\n"
        "             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"
    )
    assert "x = x + y" in verdict.hints[-1]


def test_reports_shapes_in_line_that_crashes():
    verdict = checked("scores = queries @ keys.mT @ keys", *REST)
    assert verdict.status == "crashed"
    assert verdict.message.endswith("On your line 4, you combine these shapes: `weights` (1, 4) @ `values` (2, 1).")
    assert verdict.message.count("scores = queries @ keys.mT @ keys") == 1


def test_names_variable_not_set_in_every_branch():
    message = Session(every_exercise()).check(cell(BRANCHES, "memory_bill")).message
    assert "`kept` has no value here" in message and "In which cases does your code set `kept`?" in message


BRANCHES = """\
def memory_bill(n_parameters, n_layers, d_model, n_kept, n_tokens, n_workers, checkpointing):
    share = 4 * n_parameters / n_workers
    if checkpointing:
        kept = n_layers * d_model + n_kept
    activations = 4 * kept * n_tokens
    return {"parameters": share, "gradients": share, "optimizer": 2 * share, "activations": activations}
"""


def test_ignores_random_values_if_reference_is_random():
    body = (
        "import torch\ndef which_inputs(model, x):\n    before, columns = model(x), []\n    for i in range(len(x)):\n"
    )
    body += "        other = x.clone()\n        other[i] = torch.randn_like(x[i])\n"
    body += "        columns.append((model(other) - before).sum(-1) > 1e-5)\n    return torch.stack(columns, 1)"
    verdict = Session(every_exercise()).check(cell(body, "which_inputs"))
    assert not verdict.passed and "randn" not in verdict.message


WITH_DROPOUT = """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        x = self.norm_1(x + F.dropout(self.self_attention(x, x, x, mask), 0.1))
        return self.norm_2(x + self.feed_forward(x))"""


def test_reports_randomness_that_small_cases_hide():
    message = Session(every_exercise()).check(cell(WITH_DROPOUT, "EncoderLayer", parts=parts)).message
    assert message.startswith("Line 10: the underlined part is different when your code is called again. ")
    assert "drops numbers at random" in message
    assert "should be" not in message

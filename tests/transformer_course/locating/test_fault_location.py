"""Where nothing is named, the place is: proven by putting the right value there, and told in words that are true."""

import pytest
import torch
from jaxtyping import Float

from tests.transformer_course.cells import cell
from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.lesson.session import Session
from transformer_course.locating import fault_location
from transformer_course.locating.fault_location import MAX_LINE_LENGTH, locate, may_have_place, with_place
from transformer_course.running.trace import Traced

ATTENTION = "def scaled_dot_product_attention(queries, keys, values):"


def place_in(*lines, head=ATTENTION, name="scaled_dot_product_attention", **around):
    source = "\n".join([head, *(f"    {line}" for line in lines)])
    known = behavior(every_exercise()[name], 0)
    assert known.expected  # so that it is not part of what is timed
    return locate(known, Traced(cell(source, name, parts=parts, **around)))


def test_the_expression_that_the_right_value_of_a_step_mends_is_the_place():
    place = place_in(
        "scores = queries @ keys.mT / keys.shape[-1] ** 0.5",
        "weights = torch.softmax(scores, dim=-2)",
        "return weights @ values",
    )
    assert (place.expression.line, place.expression.text) == (3, "torch.softmax(scores, dim=-2)")
    assert (place.step, place.proven) == ("weights", True)
    assert place.message == (
        "Line 3: the underlined part should be the weights. One of its rows sums to 2 instead of 1; "
        "its columns sum to 1. Fix that, and your output is right. "
        "Line 2 is right: it gives the scores.\n"
        "    line 3:  weights = torch.softmax(scores, dim=-2)\n"
        "                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"
    )


def test_an_expression_inside_a_long_one_is_found():
    place = place_in(
        "return F.softmax(torch.einsum('...qd,...kd->...qk', queries, keys) / (len(keys) + 7) ** 0.5, -1) @ values"
    )
    assert (place.expression.text, place.step) == ("len(keys) + 7", "width")


def test_a_name_that_stands_where_another_belongs_is_blamed():
    place = place_in("weights = torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, -1)", "return weights @ keys")
    assert (place.expression.text, place.step, place.is_misplaced) == ("keys", "values", True)
    assert place.message.startswith("Line 3: you use `keys` instead of `values`.")


def test_a_crash_is_located_by_what_should_stand_there():
    place = place_in(
        "scores = torch.matmul(queries, keys) / keys.shape[-1] ** 0.5", "return torch.softmax(scores, -1) @ values"
    )
    assert (place.expression.line, place.expression.text, place.step) == (2, "keys", "turned")
    assert "you use `keys` instead of the transposed keys." in place.message


def test_a_crash_that_an_argument_cannot_mend_is_told_as_one():
    place = place_in(
        "weights = torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, -1)",
        "return (weights @ values) @ torch.ones(99, 98)",
    )
    assert "It crashes (RuntimeError)" in place.message


def test_of_two_mistakes_the_first_is_told_and_not_that_it_is_all():
    place = place_in(
        "scores = (queries + 0.1) @ keys.mT / keys.shape[-1] ** 0.5",
        "weights = torch.softmax(scores, dim=-1).round(decimals=1)",
        "return weights @ values",
    )
    assert (place.expression.line, place.step, place.proven) == (2, "products", False)
    assert "is not the products" in place.message and "There is another bug after it." in place.message
    assert "Put that right" not in place.message


def test_that_something_after_a_place_is_wrong_is_said_only_where_it_is():
    place = place_in("return x.transpose(1, 3).flatten(2)", head="def merge_heads(x):", name="merge_heads")
    assert "is meant to be the heads behind the positions, it is wrong" in place.message and not place.proven
    assert "after it" not in place.message


def test_what_may_go_another_way_is_not_told_to_go_this_one():
    place = place_in(
        "w = (1 / n_tokens) / (1 / n_tokens).sum()",
        "return (w[:, None] * gradients).sum(0, keepdim=True).expand_as(gradients)",
        head="def all_reduce_gradients(gradients, n_tokens):",
        name="all_reduce_gradients",
    )
    assert "is meant to be the gradients of the summed losses, it is wrong. It is [[" in place.message
    assert "The mistake is" not in place.message and "after it" not in place.message


def test_an_argument_that_was_overwritten_is_told_as_that():
    place = place_in(
        "if keys.shape == queries.shape:",
        "    keys = queries",
        "return torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, dim=-1) @ values",
    )
    assert (place.expression.text, place.step, place.proven) == ("keys", "keys", True)
    assert "the underlined part should be `keys`, unchanged" in place.message


def test_a_part_of_a_loop_is_compared_with_its_part_of_the_step():
    place = place_in(
        "rows = []",
        "for i in range(queries.shape[-2]):",
        "    s = (queries[..., i : i + 1, :] * keys).sum(-1) / keys.shape[-1] ** 0.5",
        "    rows.append(torch.softmax(3.3 * s, -1).unsqueeze(-2) @ values)",
        "return torch.cat(rows, -2)",
    )
    assert place.expression.line == 5
    assert place.proven


def test_a_helper_of_another_cell_is_searched_too():
    helper = cell("def helper(s):\n    e = torch.exp2(s)\n    return e / e.sum(-1, keepdim=True)", "helper")
    place = place_in("return helper(queries @ keys.mT / keys.shape[-1] ** 0.5) @ values", helper=helper)
    assert place.expression.source_line.strip().startswith(("e = ", "return e"))


def test_a_module_is_searched_in_its_forward():
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
    place = locate(known, Traced(cell(source, "EncoderLayer", parts=parts)))
    assert place.expression.text in ("x.sin()", "self.feed_forward(x.sin())")
    assert place.proven


@pytest.mark.parametrize(
    "body",
    [
        "return torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, -1) @ values",
        "d = keys.shape[-1]\n    return parts.softmax((queries / d**0.25) @ (keys / d**0.25).mT) @ values",
        "return F.scaled_dot_product_attention(queries, keys, values)",
    ],
)
def test_a_right_answer_has_no_place(body):
    assert place_in(*body.split("\n    ")) is None


def test_nothing_is_said_where_nothing_can_be_proven():
    assert place_in("return 0") is None


def test_a_loop_without_an_end_ends(monkeypatch):
    monkeypatch.setattr(fault_location, "SEARCH_TIME_LIMIT_S", 1.0)
    assert place_in("while True:", "    queries = queries + 1") is None


def test_hints_lead_from_the_step_to_its_code():
    place = place_in(
        "scores = queries @ keys.mT / (keys.shape[-1] ** 0.5 + 0.1)", "return torch.softmax(scores, -1) @ values"
    )
    assert len(place.hints) == 4
    assert place.hints[0].startswith("Look at your line 2, `")
    assert "    def " in place.hints[-1] and '"""' not in place.hints[-1]


def test_every_step_of_every_exercise_can_be_told():
    for exercise in every_exercise().values():
        for name in exercise.steps.steps if exercise.steps else ():
            steps = exercise.steps
            assert steps.has_noun(name), (exercise.name, name)
            assert steps.noun(name) and steps.formula(name) and steps.code(name).startswith("def ")


SCORES = "scores = queries @ keys.mT / keys.shape[-1] ** 0.5"
REST = ("weights = torch.softmax(scores, -1)", "return weights @ values")


def test_another_dtype_is_told_by_the_expression_that_brings_it_in():
    place = place_in(SCORES, "weights = torch.softmax(scores, -1)", "return (weights @ values).double() * 1")
    assert place.message.startswith(
        "Line 4: the underlined part has dtype float64 instead of float32. "
        "Fix that, and your output is right.\n    line 4:  return (weights"
    )


def test_where_two_expressions_bring_in_a_dtype_both_are_told():
    place = place_in(SCORES, "weights = torch.softmax(scores.double(), -1)", "return weights @ values.double()")
    assert place.message.startswith(
        "Line 3: the underlined part has dtype float64 instead of float32. So does line 4, `values.double()`."
    )


def test_a_dtype_that_changes_the_numbers_is_told_as_the_step_that_it_spoils():
    place = place_in("scores = (queries @ keys.mT / keys.shape[-1] ** 0.5).int().float()", *REST)
    assert place.step == "scores"


def test_another_result_at_the_second_call_is_told_by_the_expression_that_gives_it():
    place = place_in(SCORES, "weights = torch.softmax(scores, -1)", "return weights @ values + torch.rand(()) / 99")
    assert place.message.startswith("Line 4: the underlined part is different when your code is called again: ")
    assert "random" in place.hints[-1]


def test_what_an_earlier_call_left_behind_is_told_by_its_name():
    head = "def scaled_dot_product_attention(queries, keys, values, seen=[]):"
    place = place_in("seen.append(1)", f"{SCORES} * len(seen)", *REST, head=head)
    assert "the underlined part is different when your code is called again: [], and then [1]." in place.message


def checked(*lines):
    source = "\n".join([ATTENTION, *(f"    {line}" for line in lines)])
    return Session(every_exercise()).check(cell(source, "scaled_dot_product_attention"))


def test_a_changed_argument_is_told_by_the_statement_that_changes_it():
    verdict = checked("queries /= keys.shape[-1] ** 0.5", "scores = queries @ keys.mT", *REST)
    assert verdict.mistakes == ("changes_argument",)
    assert verdict.message == (
        "Your numbers are right, but your code writes into `queries`, which the caller may still need.\n"
        "The argument `queries` is changed here:\n"
        "    line 2:  queries /= keys.shape[-1] ** 0.5\n"
        "             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"
    )
    assert "x = x + y" in verdict.hints[-1]


def test_a_crash_is_told_with_its_line_and_the_shapes_that_met_there():
    verdict = checked("scores = queries @ keys.mT @ keys", *REST)
    assert verdict.status == "crashed"
    assert verdict.message.endswith("On your line 4, these shapes meet: `weights` (1, 4) @ `values` (2, 1).")
    assert verdict.message.count("scores = queries @ keys.mT @ keys") == 1


def test_a_crash_does_not_hide_that_a_step_is_left_out_besides():
    assert checked("scores = queries @ keys", *REST).mistakes == ("not_transposed_turned", "no_scaling")


@pytest.mark.parametrize("status", ["passed", "not_started", "half_finished"])
def test_other_verdicts_have_no_place(status):
    verdict = Verdict("scaled_dot_product_attention", status, "Words.", ("one",))
    assert not may_have_place(verdict)
    known = behavior(every_exercise()["scaled_dot_product_attention"], 0)
    traced = Traced(cell(f"{ATTENTION}\n    return 0", "scaled_dot_product_attention"))
    assert with_place(verdict, known, traced, ["queries"]) == verdict


def test_of_a_long_line_what_surrounds_the_expression_is_shown():
    long = "(queries + 0) @ (keys + 0).mT / (keys.shape[-1] + 0 * len(queries) + 0 * len(keys)) ** 0.5"
    place = place_in(f"return torch.softmax(({long}) * 1.7 + 0 * queries.sum() + 0 * keys.sum(), -1) @ (values + 0)")
    displayed, under = place.message.splitlines()[-2:]
    assert displayed.startswith("    line 2:  ")
    assert len(displayed) <= len("    line 2:  …  …") + MAX_LINE_LENGTH
    assert len(under) <= len(displayed)
    assert place.expression.text.startswith(displayed[under.index("^") : under.rindex("^") + 1].rstrip("…").rstrip())


def test_what_is_asked_in_a_condition_is_not_blamed():
    place = place_in(
        "if keys.shape[-2] > 2 and keys.shape[-1] > 3:", "    return values.sum(-2, keepdim=True)", SCORES, *REST
    )
    assert place is None


def test_a_mistake_that_is_named_is_shown_on_its_line():
    verdict = checked(SCORES, "weights = torch.softmax(scores, -2)", "return weights @ values")
    assert verdict.status == "mistake"
    assert verdict.message.splitlines()[1:4] == [
        "    line 3:  weights = torch.softmax(scores, -2)",
        "                       ^^^^^^^^^^^^^^^^^^^^^^^^^",
        "Case 1 of 8 (one query, 2 keys of width 4, values of width 1):",
    ]


def test_sentence_about_the_learner_begins_with_the_line():
    lines = ("e = torch.exp(scores - scores.amax(-1, keepdim=True))", "return e / e.mean(-1, keepdim=True)")
    message = Session(every_exercise()).check(cell("\n    ".join(["def softmax(scores):", *lines]), "softmax")).message
    assert message.startswith("Line 3: you take the mean of the exponentials")
    assert "One of your rows" not in message and "    line 3:  return e / e.mean(" in message.splitlines()[1]


def test_a_generated_mistake_that_a_teacher_tells_is_shown_on_its_line():
    lines = ("e = torch.exp(scores - scores.amin(-1, keepdim=True))", "return e / e.sum(-1, keepdim=True)")
    verdict = Session(every_exercise()).check(cell("\n    ".join(["def softmax(scores):", *lines]), "softmax"))
    assert verdict.mistakes == ("sibling_largest",)
    sentence = every_exercise()["softmax"].messages["sibling_largest"].sentence
    assert verdict.message.startswith(f"Line 2: y{sentence[1:]}\n    line 2:  {lines[0]}\n")


def test_code_that_looks_different_makes_the_mistake_in_effect():
    lines = (
        "ids, new = list(text.encode()), 256",
        "for pair in merges:",
        "    new += 1",
        "    ids = parts.merge(ids, pair, new)",
    )
    source = "\n    ".join(["def encode(text, merges):", *lines, "return ids"])
    message = Session(every_exercise()).check(cell(source, "encode", parts=parts)).message
    assert message.startswith("In effect, you use 257 instead of 256 ")
    written = source.replace("256", "257").replace("new)", "new - 1)")
    assert Session(every_exercise()).check(cell(written, "encode", parts=parts)).message.find("n effect") == -1


def test_of_two_mistakes_that_are_named_the_first_is_shown():
    multiplied = SCORES.replace(" / ", " * ")
    verdict = checked(multiplied, "weights = torch.softmax(scores, -2)", "return weights @ values")
    assert len(verdict.mistakes) == 2
    assert verdict.message.splitlines()[2] == f"    line 2:  {multiplied}"
    assert verdict.message.splitlines()[4].startswith("2. ")


def test_in_a_bug_hunt_the_line_is_left_to_be_found():
    source = "\n".join([ATTENTION, f"    {SCORES}", "    return torch.softmax(scores, -2) @ values"])
    colleague = cell(source.replace("def scaled_dot", "def a_colleagues_dot"), "a_colleagues_dot_product_attention")
    verdict = Session(every_exercise()).check(colleague, "scaled_dot_product_attention")
    assert verdict.status == "mistake" and "line 3" not in verdict.message


@pytest.mark.parametrize(
    "lines",
    [
        [
            "d_k = keys.shape[-1]",
            "return torch.softmax(queries @ keys.mT / d_k, -1) @ values",
        ],  # any size of 4 would do
        [SCORES, "weights = torch.softmax(scores, -2)", "mixed = weights @ values", "return mixed + 0"],
    ],
)
def test_a_line_is_shown_only_where_it_is_sure(lines):
    verdict = checked(*lines)
    assert verdict.status == "mistake"
    shown = verdict.message.partition("    line ")[2]
    assert "shape" not in shown and "mixed" not in shown


def test_the_answer_itself_is_not_blamed_where_something_before_it_may_be_wrong():
    place = place_in(
        "rows = torch.zeros(*queries.shape[:-1], values.shape[-1])",
        "for i in range(1, queries.shape[-2]):",
        "    s = (queries[..., i : i + 1, :] * keys).sum(-1) / keys.shape[-1] ** 0.5",
        "    rows[..., i, :] = (torch.softmax(s, -1).unsqueeze(-2) @ values).squeeze(-2)",
        "return rows",
    )
    assert place is None


def test_a_draw_is_not_blamed_where_the_right_answer_draws_as_well():
    body = (
        "import torch\ndef which_inputs(model, x):\n    before, columns = model(x), []\n    for i in range(len(x)):\n"
    )
    body += "        other = x.clone()\n        other[i] = torch.randn_like(x[i])\n"
    body += "        columns.append((model(other) - before).sum(-1) > 1e-5)\n    return torch.stack(columns, 1)"
    verdict = Session(every_exercise()).check(cell(body, "which_inputs"))
    assert not verdict.passed and "randn" not in verdict.message


def test_what_only_its_size_is_read_of_is_not_told_to_be_another_tensor():
    source = "def attend_with_cache(query, key, value, cache):\n    if cache is not None:\n"
    source += "        key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)\n"
    source += "    mask = parts.causal_mask(key.shape[2])\n"
    source += "    return parts.masked_attention(query, key, value, mask), (key, value)"
    verdict = Session(every_exercise()).check(cell(source, "attend_with_cache", parts=parts))
    assert "uses `key`" not in verdict.message
    assert "Put that right" not in verdict.message


def test_what_is_right_as_something_else_is_not_blamed_where_later_steps_go_wrong():
    head, *lines = (
        "def relative_bias(table, n_query, n_key):",
        "q = torch.arange(n_key - n_query, n_key).view(-1, 1)",
        "k = torch.arange(n_key).view(1, -1)",
        "index = ((k - q) + table.shape[1] // 2) % table.shape[1]",
        "return table[:, index]",
    )
    place = place_in(*lines, head=head, name="relative_bias")
    assert (place.expression.line, place.step) == (4, "columns")
    assert "rows sums" not in place.message  # the columns of the first row do, by chance


def test_what_takes_a_comparison_away_is_no_right_value():
    head, *lines = (
        "def alibi_bias(n_heads, n_query, n_key):",
        "slope = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)",
        "q, k = torch.arange(n_query).unsqueeze(1) + n_key - n_query, torch.arange(n_key)",
        "bias = -slope[:, None, None] * (q - k).abs()",
        "return bias.masked_fill(k > q, -100.0)",
    )
    place = place_in(*lines, head=head, name="alibi_bias")
    assert place is None or place.expression.text not in ("q", "k")


def test_what_a_constructor_has_made_is_not_blamed_where_it_is_read():
    edit = ("new_zeros(linear.out_features, rank)", "new_ones(linear.out_features, rank)")
    source = every_exercise()["LoRALinear"].solution.replace(*edit)
    verdict = Session(every_exercise()).check(cell(source, "LoRALinear", Float=Float, Tensor=torch.Tensor))
    assert verdict.mistakes == ("b_does_not_start_at_zero",)
    assert "    line " not in verdict.message


def test_an_argument_that_is_changed_before_it_is_used_is_told_of_where_it_is_read():
    source = "def score_variance(d_k, variance):\n    return d_k * variance**4"
    message = Session(every_exercise()).check(cell(source, "score_variance")).message
    assert message.startswith("Line 2: you square `variance` first. Use `variance` unchanged.\n    line 2:  ")


DROPS = """\
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


def test_an_output_that_is_random_is_reported_as_random_though_a_small_case_does_not_show_it():
    message = Session(every_exercise()).check(cell(DROPS, "EncoderLayer", parts=parts)).message
    assert message.startswith("Line 10: the underlined part is different when your code is called again.")
    assert "drops numbers at random" in message
    assert "should be" not in message


@pytest.mark.parametrize(
    ("name", "source", "untrue"),
    [
        (
            "bits_per_byte",
            "def bits_per_byte(loss, n_tokens, n_bytes):\n    return loss / 0.693147 * n_tokens / n_tokens",
            "n_bytes` instead of",
        ),
        (
            "head_contributions",
            """\
def head_contributions(heads, w_o):
    d = heads.shape[-1]
    own = [w_o.T[:, i * d : (i + 1) * d].T for i in range(heads.shape[1])]
    return torch.stack([heads[:, i] @ w for i, w in enumerate(own)], 1)""",
            "don't transpose `w_o`",
        ),
    ],
)
def test_words_that_quote_what_the_code_does_not_have_are_left_out(name, source, untrue):
    verdict = Session(every_exercise()).check(cell(source, name))
    assert verdict.status == "mistake"
    assert untrue not in verdict.message

"""Tests for selecting the expressions that a correct value may replace."""

from tests.transformer_course.cells import cell
from tests.transformer_course.locating.fault_in import REST, SCORES, fault_in
from transformer_course.exercises import every_exercise
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.lesson.session import Session


def test_ignores_conditions():
    fault = fault_in(
        "if keys.shape[-2] > 2 and keys.shape[-1] > 3:", "    return values.sum(-2, keepdim=True)", SCORES, *REST
    )
    assert fault is None


def test_ignores_variable_used_only_for_its_shape():
    source = "def attend_with_cache(query, key, value, cache):\n    if cache is not None:\n"
    source += "        key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)\n"
    source += "    mask = parts.causal_mask(key.shape[2])\n"
    source += "    return parts.masked_attention(query, key, value, mask), (key, value)"
    verdict = Session(every_exercise()).check(cell(source, "attend_with_cache", parts=parts))
    assert "uses `key`" not in verdict.message
    assert "Put that right" not in verdict.message


def test_ignores_tensor_that_is_filled_later():
    fault = fault_in(
        "rows = torch.zeros(*queries.shape[:-1], values.shape[-1])",
        "for i in range(1, queries.shape[-2]):",
        "    s = (queries[..., i : i + 1, :] * keys).sum(-1) / keys.shape[-1] ** 0.5",
        "    rows[..., i, :] = (torch.softmax(s, -1).unsqueeze(-2) @ values).squeeze(-2)",
        "return rows",
    )
    assert fault.expression.text == "range(1, queries.shape[-2])"


def test_accepts_one_slice_of_step_per_iteration():
    fault = fault_in(
        "rows = []",
        "for i in range(queries.shape[-2]):",
        "    s = (queries[..., i : i + 1, :] * keys).sum(-1) / keys.shape[-1] ** 0.5",
        "    rows.append(torch.softmax(3.3 * s, -1).unsqueeze(-2) @ values)",
        "return torch.cat(rows, -2)",
    )
    assert fault.expression.line == 5
    assert fault.proven

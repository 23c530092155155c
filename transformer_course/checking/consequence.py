"""Describe the consequence of a mistake in one sentence, for the first case in which the output is wrong."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from transformer_course.checking.formatting import format_value, join_words
from transformer_course.checking.named_shapes import name_dimensions
from transformer_course.checking.numeric_relation import explain_relation
from transformer_course.checking.tolerance import distance
from transformer_course.checking.value_difference import is_distribution
from transformer_course.exercise import Mistake
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake
from transformer_course.running.observation import Observation

MAX_SUMS = 2
"""Maximum number of distinct row sums listed in a message."""
KINDS_WITH_CONSEQUENCE = (
    *("scaled", "shifted", "sign", "transposed", "inverted", "all_false", "all_true", "additive", "dtype"),
)
"""Kinds of generated mistakes whose composed message already describes the consequence."""


def message_of(mistake: Mistake, observed: Sequence[Observation], expected: Sequence[Observation]) -> str:
    """Return the message for a single mistake. The message for a generated mistake includes the consequence.

    Args:
        mistake: The mistake.
        observed: Observations of an attempt with this mistake, possibly from an untrusted process.
        expected: Observations of the reference on the same cases.
    """
    if not isinstance(mistake, GeneratedMistake) or mistake.edit.kind in KINDS_WITH_CONSEQUENCE:
        return mistake.message
    return mistake.message_with(consequence(observed, expected))


def consequence(observed: Sequence[Observation], expected: Sequence[Observation]) -> str:
    """Describe the error in the output in one sentence, or return "" if one sentence is not enough.

    Args:
        observed: Observations of the attempt, possibly from an untrusted process.
        expected: Observations of the reference on the same cases.
    """
    crashes = [isinstance(observation.get("error"), Mapping) for observation in observed]
    if any(crashes):
        return "This is why your code crashes." if all(crashes) else ""
    outputs = []
    for observation, expectation in zip(observed, expected, strict=False):
        outputs.append((dict(observation).get("output"), dict(expectation).get("output")))
    wrong = [pair for pair in outputs if distance(*pair) > 1]
    value, right = next(iter(wrong), (None, None))
    if not isinstance(value, Tensor) or not isinstance(right, Tensor) or value.is_complex():
        return ""
    if value.shape != right.shape:
        now, should = name_dimensions(value.shape, []), name_dimensions(right.shape, [])
        return f"Your output has shape {now} instead of {should}."
    if (value.dtype == torch.bool) != (right.dtype == torch.bool):
        return ""
    if right.dtype == torch.bool:
        return _of_mask(value, right)
    if value.dtype != right.dtype and torch.equal(value.to(right.dtype), right):
        now, should = (str(tensor.dtype).removeprefix("torch.") for tensor in (value, right))
        return f"Your output has dtype {now} instead of {should}."
    are_distributions = all(is_distribution(expected) for _, expected in outputs)
    return _of_numbers(value, right, wrong[1:], are_distributions=are_distributions)


def _of_mask(value: Tensor, right: Tensor) -> str:
    """Describe a wrong mask by the entries above the diagonal, or otherwise by the first entry that differs."""
    if value.all() or not value.any():
        return f"Your output is {bool(value.any())} everywhere."
    if value.dim() >= 2 and value.shape[-1] == value.shape[-2]:
        above = torch.ones_like(right[..., :, :]).triu(1)
        if (value & above).any() and not (right & above).any():
            return "Your output is True above the diagonal."
    wrong = (value != right).nonzero()[0].tolist()
    position = [f"{name} {index}" for name, index in zip(("row", "column"), wrong[-2:], strict=False)]
    return (
        f"In {', '.join(position)}, your output is {bool(value[tuple(wrong)])} instead of {bool(right[tuple(wrong)])}."
        if len(position) == 2
        else ""
    )


def _of_numbers(
    value: Tensor, right: Tensor, others: Iterable[tuple[object, object]], *, are_distributions: bool
) -> str:
    a, b = value.double(), right.double()
    if a.isnan().any() and not b.isnan().any():
        return _of_nan(a)
    if a.isinf().any() and not b.isinf().any():
        return "Your output contains infinity."
    if are_distributions and (sentence := _of_sums(a)):
        return sentence
    relation = explain_relation(value, right.to(value.dtype))
    return relation if relation.startswith("Every number") and _holds(relation, others) else ""


def _holds(relation: str, others: Iterable[tuple[object, object]]) -> bool:
    """Return whether a relation also holds in these cases, skipping constant outputs, which fit many relations."""
    for value, right in others:
        if not isinstance(value, Tensor) or not isinstance(right, Tensor) or value.shape != right.shape:
            return False
        is_constant = bool((right == right.flatten()[:1]).all())
        if not is_constant and explain_relation(value, right.to(value.dtype)) != relation:
            return False
    return True


def _of_nan(a: Tensor) -> str:
    """Describe an output that contains NaN in every entry, in a whole row or in some entries."""
    if a.isnan().all():
        return "Your output is NaN."
    rows = a.isnan().all(-1).nonzero() if a.dim() == 2 else a[:0]
    return f"Row {int(rows[0])} of your output is NaN." if len(rows) else "Your output contains NaN."


def _of_sums(a: Tensor) -> str:
    """Describe row sums that differ from 1."""
    sums = a.sum(-1).flatten()
    if torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        return ""
    distinct = list(dict.fromkeys(format_value(float(row_sum), 2) for row_sum in sums))
    subject = "rows sum" if a.dim() > 1 else "output sums"
    if len(distinct) == 1:
        return f"Your {subject} to {distinct[0]} instead of 1."
    if len(distinct) <= MAX_SUMS:
        return f"Your rows sum to {join_words(distinct)} instead of 1."
    first = next(row_sum for row_sum in distinct if row_sum != "1")
    return f"One of your rows sums to {first} instead of 1."

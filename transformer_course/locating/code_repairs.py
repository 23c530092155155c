"""Find the one edit of a learner's own code that makes it right.

Slips of loops, indices and names change no step of the answer, so neither a generated mistake nor a substituted value
explains them. An edit does: it is tried in all cases, and only one that repairs every case is reported. (An edit that
leaves one known mistake proves nothing: of eight such pairs, two were wrong.)
"""

from collections.abc import Sequence

from torch import Tensor

from transformer_course.locating.substituted_runs import NOT_TRACED, SubstitutedRuns, TracedCase
from transformer_course.running.code_edits import CodeEdit

LOOP_KINDS = (
    "reset_in_loop", "set_before_loop", "returns_in_loop", "set_back", "overwrites", "range_stop", "range_start",
)  # fmt: skip
"""Slips of loops, about which the line says more than what the whole answer computes because of them."""
MIN_NUMBERS = 4
"""An edit counts only if the cases have at least this many numbers: a few are repaired by chance."""


def repairing_edit(runs: SubstitutedRuns, kinds: Sequence[str]) -> CodeEdit | None:
    """Return the likeliest edit of some kinds that repairs all cases, or None.

    Args:
        runs: The attempt's runs on the small cases.
        kinds: The kinds of edits to try.
    """
    runs.other_mistake = None
    outputs = [runs.known.expected[one.index].get("output") for one in runs.cases]
    n_numbers = sum(one.numel() if isinstance(one, Tensor) else 1 for one in outputs)
    if not runs.failing or n_numbers < MIN_NUMBERS:
        return None
    return next((edit for edit in runs.traced.edits if edit.kind in kinds and _repairs(runs, edit)), None)


def _repairs(runs: SubstitutedRuns, edit: CodeEdit) -> bool:
    """Return whether an edit repairs all cases that can be run, the failing small ones first."""
    first = [one.index for one in runs.failing]
    small = [one.index for one in runs.cases if one.index not in first]
    large = [index for index in range(len(runs.known.cases)) if index not in (*first, *small)]
    for index in (*first, *small, *large):
        trace = runs.traced.run_edited(runs.known.cases[index], edit.number)
        if trace.error != NOT_TRACED and not runs.is_repaired(TracedCase(index, {}, trace), trace):
            return False
    return True

"""Find an edit that makes a learner's code correct.

Slips in loops, indices and names change no step of the answer, so neither a generated mistake nor a substituted value
explains such a slip, but an edit does. An edit is reported only if it repairs the output in every case. An edit after
which a known mistake remains proves too little: two of eight such edits were wrong.
"""

from collections.abc import Collection

from torch import Tensor

from transformer_course.locating.substituted_runs import NOT_TRACED, SubstitutedRuns, TracedCase
from transformer_course.running.code_edits import CodeEdit

LOOP_KINDS = (
    "reset_in_loop", "set_before_loop", "returns_in_loop", "set_back", "overwrites", "range_stop", "range_start",
)  # fmt: skip
"""Kinds of slips in loops. Quoting the line explains such a slip better than describing the effect on the answer."""
NAME_KINDS = ("name",)
"""Kinds of slips in names. The line helps even if a message describes the effect."""
MIN_NUMBERS = 4
"""Minimum total size of the outputs for the small cases. An edit may repair a smaller output by chance."""


class CodeRepairs:
    """A search for an edit that repairs all cases. Every edit is tried at most once.

    Args:
        runs: The attempt's runs on the small cases.
    """

    def __init__(self, runs: SubstitutedRuns) -> None:
        self._runs = runs
        self._results = dict[int, bool]()

    def likeliest(self, kinds: Collection[str]) -> CodeEdit | None:
        """Return the likeliest edit of these kinds that repairs all cases, or None."""
        runs = self._runs
        runs.other_mistake = None
        outputs = [runs.known.expected[case.index].get("output") for case in runs.cases]
        n_numbers = sum(output.numel() if isinstance(output, Tensor) else 1 for output in outputs)
        if not runs.failing or n_numbers < MIN_NUMBERS:
            return None
        return next((edit for edit in runs.traced.edits if edit.kind in kinds and self._repairs(edit)), None)

    def _repairs(self, edit: CodeEdit) -> bool:
        if edit.number not in self._results:
            self._results[edit.number] = _repairs_all_cases(self._runs, edit)
        return self._results[edit.number]


def _repairs_all_cases(runs: SubstitutedRuns, edit: CodeEdit) -> bool:
    """Return whether an edit repairs all cases that can be run. The failing small cases are tried first."""
    failing = [case.index for case in runs.failing]
    small = [case.index for case in runs.cases if case.index not in failing]
    large = [index for index in range(len(runs.known.cases)) if index not in (*failing, *small)]
    for index in (*failing, *small, *large):
        trace = runs.traced.run_edited(runs.known.cases[index], edit.number)
        if trace.error != NOT_TRACED and not runs.is_repaired(TracedCase(index, {}, trace), trace):
            return False
    return True

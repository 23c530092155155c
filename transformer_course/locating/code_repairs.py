"""Find the one edit of a learner's own code that makes it right, or that leaves a single known mistake.

Slips of loops, indices and names change no step of the answer, so neither a generated mistake nor a substituted value
explains them. An edit does: it is tried in all cases, and only one that repairs every case is reported.
"""

from collections.abc import Iterator, Sequence
from typing import cast

from torch import Tensor

from transformer_course.checking.expected_behavior import AnyVariant, Behavior
from transformer_course.checking.tolerance import distance, is_finite
from transformer_course.exercise import Mistake
from transformer_course.generated_mistakes.catalog import Outline, outline
from transformer_course.locating.substituted_runs import NOT_TRACED, SubstitutedRuns, TracedCase
from transformer_course.running.code_edits import CodeEdit
from transformer_course.running.observation import Observation
from transformer_course.running.trace import Trace

LOOP_KINDS = (
    "reset_in_loop",
    "set_before_loop",
    "returns_in_loop",
    "set_back",
    "overwrites",
    "range_stop",
    "range_start",
)
"""Slips of loops, about which the line says more than what the whole answer computes because of them."""
KINDS_IN_PAIRS = (
    "no_joining_dim", "dim", "no_dim", "range_stop", "range_start", "slice_stop", "slice_start", "swapped", "function",
    "sign", "truth",
)  # fmt: skip
"""Edits that are tried together with a second mistake. The others change so much that some fit by chance."""
MIN_NUMBERS = 4
"""An edit counts only if it repairs at least this many numbers: a few small ones are repaired by chance."""
MIN_CASES = 3
"""With a second mistake, at least this many cases have to agree."""


class CodeRepairs:
    """The search for an edit that repairs an attempt.

    Args:
        runs: The attempt's runs on the small cases.
    """

    def __init__(self, runs: SubstitutedRuns) -> None:
        self.runs, self.known, self.traced = runs, runs.known, runs.traced
        self._traces: dict[tuple[int, int], Trace] = {}

    def edit(self, kinds: Sequence[str]) -> CodeEdit | None:
        """Return the likeliest edit of some kinds that repairs all cases, or None."""
        self.runs.other_mistake = None
        if not self.runs.failing or not self._is_told_apart():
            return None
        return next((edit for edit in self.traced.edits if edit.kind in kinds and self._repairs(edit)), None)

    def edit_and_mistake(self) -> tuple[CodeEdit, Mistake] | None:
        """Return an edit and the known mistake that the edited attempt still makes, or None."""
        if len(self.runs.cases) < MIN_CASES or not self.runs.failing:
            return None
        if all(isinstance(known.get("output"), bool) for known in self.known.expected):
            return None  # True and False fit by chance
        first = self.runs.failing[0]
        singles = list(_with_outlines(self.known, first.index))
        for edit in self.traced.edits:
            if edit.kind not in KINDS_IN_PAIRS:
                continue
            trace = self._run(edit, first.index)
            if trace.error or not is_finite(trace.output) or self._is_unchanged(first, trace):
                continue
            found = outline(cast(Observation, {"output": self.runs.normalized(first, trace)}))
            for mistake, variant, expected in singles:
                if expected.may_be(found) and self._leaves(edit, variant):
                    return edit, mistake
        return None

    def _repairs(self, edit: CodeEdit) -> bool:
        small = [*self.runs.failing, *(one for one in self.runs.cases if one not in self.runs.failing)]
        large = set(range(len(self.known.cases))).difference(one.index for one in small)
        for index in [*(one.index for one in small), *sorted(large)]:
            trace = self._run(edit, index)
            if trace.error != NOT_TRACED and not self.runs.is_repaired(TracedCase(index, {}, trace), trace):
                return False
        return True

    def _leaves(self, edit: CodeEdit, variant: AnyVariant) -> bool:
        """Return whether the edited attempt gives the same outputs as a variant in all small cases."""
        n_wrong = 0
        for one in self.runs.cases:
            wanted = self.known.output(variant, one.index)
            if "error" in wanted or not is_finite(wanted.get("output")):
                return False
            trace = self._run(edit, one.index)
            if trace.error or distance(self.runs.normalized(one, trace), wanted.get("output")) > 1:
                return False
            n_wrong += distance(wanted.get("output"), self.known.expected[one.index].get("output")) > 1
        return n_wrong >= MIN_CASES

    def _run(self, edit: CodeEdit, index: int) -> Trace:
        if (edit.number, index) not in self._traces:
            self._traces[edit.number, index] = self.traced.run_edited(self.known.cases[index], edit.number)
        return self._traces[edit.number, index]

    def _is_unchanged(self, one: TracedCase, trace: Trace) -> bool:
        return one.trace.error is None and distance(trace.output, one.trace.output) <= 1

    def _is_told_apart(self) -> bool:
        """Return whether the small cases hold enough numbers that no edit repairs them by chance."""
        outputs = [self.known.expected[one.index].get("output") for one in self.runs.cases]
        return sum(one.numel() if isinstance(one, Tensor) else 1 for one in outputs) >= MIN_NUMBERS


def _with_outlines(known: Behavior, index: int) -> Iterator[tuple[Mistake, AnyVariant, Outline]]:
    """Yield the known mistakes that can occur together with another, each with the outline of its output on a case."""
    for mistake in (*known.exercise.mistakes, *known.generated.values()):
        for variant in mistake.step_variants:
            output = known.output(variant, index)
            if "error" not in output and is_finite(output.get("output")):
                yield mistake, variant, outline(output)

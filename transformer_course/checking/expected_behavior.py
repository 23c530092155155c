"""Run the reference and the mistakes of an exercise on its cases. Results are computed when needed and cached."""

import contextlib
import itertools
import operator
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, cast

import torch
from torch import Tensor

from transformer_course.checking import mistake_pairs
from transformer_course.checking.mistake_pairs import OBSERVED, RIGHT, Pair, Single
from transformer_course.checking.shared_evaluation import SharedEvaluation
from transformer_course.checking.tolerance import may_show, observation_distance
from transformer_course.exercise import Exercise, Mistake
from transformer_course.generated_mistakes.catalog import catalog_of, outline
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit, GeneratedMistake
from transformer_course.running.case import Case
from transformer_course.running.crash_report import message_of
from transformer_course.running.isolation import default_torch_state, suppressed_native_output, suppressed_output
from transformer_course.running.observation import Observation
from transformer_course.running.observe import count_samples, observe
from transformer_course.running.plain_data import count_numbers, to_plain_data
from transformer_course.running.record import call_inputs, copy_inputs, load_module, seeded
from transformer_course.steps import Variant

AnyVariant = Variant | Callable[..., Any]
MAX_CACHED_OUTPUTS = 8000
"""Maximum number of outputs of variants to cache for the next attempt at the same exercise. Most outputs are tiny."""
MAX_CACHED_NUMBERS = 500
"""Outputs with more numbers are not cached."""
FAR_FETCHED_WEIGHT, LIKELY_WEIGHT = 2.0, 1.0
"""A generated mistake is far-fetched if its weight is above the first number, and likely if its weight is at most the
second number."""
MAX_LIKELY_PAIRS = 2000
"""Maximum number of pairs of likely mistakes to try as an alternative to a far-fetched generated mistake."""
MAX_PAIR_CALLS = 800_000
"""Maximum number of function calls to spend on trying pairs, about a second of CPU time."""
N_DISTINGUISHING_CASES = 2
"""Pairs are compared with the attempt in up to this many wrong cases and up to this many correct cases."""


@dataclass(frozen=True, eq=False)
class Behavior:
    """Observations recorded from an exercise's reference and mistakes, on the cases for one seed."""

    exercise: Exercise
    cases: Sequence[Case]
    recognized: dict[bytes, Any] = field(default_factory=dict)
    """Cache of recognition results by a digest of the observations, because many students make the same mistake."""
    _runs: dict[AnyVariant, Sequence[Observation]] = field(default_factory=dict)
    _case_runs: dict[tuple[AnyVariant, int], Observation] = field(default_factory=dict)
    _outputs: dict[tuple[AnyVariant, int], Observation] = field(default_factory=dict)
    _modules: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def expected(self) -> Sequence[Observation]:
        """Observations recorded from the reference."""
        return self.run(self.exercise.reference)

    @property
    def mistakes(self) -> Iterator[tuple[Mistake, Sequence[Observation]]]:
        """Yield each mistake with the observations for each of its variants."""
        for mistake in self.exercise.mistakes:
            for variant in mistake.variants:
                yield mistake, self.run(variant)

    @property
    def generated(self) -> Mapping[AnswerEdit, GeneratedMistake]:
        """The generated mistakes that can be reported, likeliest first."""
        return _generated_mistakes(self.exercise)

    def generated_like(self, observed: Sequence[Observation]) -> Sequence[GeneratedMistake]:
        """List the generated mistakes that may behave like the attempt. Stored outlines rule out most mistakes."""
        edits = catalog_of(self.exercise).candidates(self.cases, self.expected, observed)
        return [self.generated[edit] for edit in edits]

    def generated_like_in_some(self, observed: Sequence[Observation]) -> Sequence[GeneratedMistake]:
        """List generated mistakes that may match the attempt in some stored cases and are correct in the other cases.

        The list is empty if the cases belong to a seed whose outlines are not stored.
        """
        edits = catalog_of(self.exercise).candidates_in_some(self.cases, self.expected, observed)
        return [self.generated[edit] for edit in edits]

    def named(self, names: Collection[str], message: str) -> Sequence[Mistake]:
        """List the mistakes named in a verdict. The message distinguishes generated mistakes that share a name."""
        written = [mistake for mistake in self.exercise.mistakes if mistake.name in names]
        generated = {}
        for mistake in self.generated.values():
            texts = (mistake.summary.lower(), mistake.message.lower()) if mistake.name in names else ()
            if any(text in message.lower() for text in texts):
                generated[mistake.name] = mistake
        return [*written, *generated.values()]

    @property
    def pairs(self) -> Sequence[Pair]:
        """Pairs of teacher-written mistakes, likeliest first."""
        return _pairs(self.exercise)

    @property
    def likely_pairs(self) -> Sequence[Pair]:
        """Pairs of mistakes, where each mistake is either teacher-written or likely."""
        return _likely_pairs(self.exercise)

    def is_far_fetched(self, mistake: Mistake) -> bool:
        """Return whether a generated mistake is less plausible than a pair of likely mistakes."""
        return (
            isinstance(mistake, GeneratedMistake)
            and mistake.edit.kind != "operator"  # a wrong operator is a single slip
            and len(mistake.edit.code) == 1  # one slip that changes two steps is plausible
            and mistake.edit.weight > FAR_FETCHED_WEIGHT
        )

    def pairs_with_generated(self, observed: Sequence[Observation], reported_by: Collection[int]) -> Sequence[Pair]:
        """List pairs with a generated mistake that may explain the attempt. Call this method ``in_isolation``.

        Args:
            observed: Observations of the attempt.
            reported_by: Indices of the cases that show the mistakes. In all other cases, a crash hides the mistakes.
        """
        singles, stored = _singles(self.exercise), catalog_of(self.exercise).cases
        if len(observed) != len(self.cases) or any(index >= len(self.cases) for index in stored):
            return ()
        # A mistake fits if its output has the form of the expected or the observed output in each stored case, unless
        # a crash hides the mistake in that case.
        forms = [{outline(self.expected[i]).form, outline(observed[i]).form} for i in stored]
        hidden = ["error" in observed[i] or i not in reported_by for i in stored]
        fitting = []
        for single in singles:
            if all(map(operator.or_, hidden, map(operator.contains, forms, self._forms(single)))):
                fitting.append(single)
        right = [i for i in sorted(reported_by) if may_show(self.expected[i], observed[i])]
        wrong = [i for i in sorted(reported_by) if i not in right]
        examined = [*right[:N_DISTINGUISHING_CASES], *wrong[:N_DISTINGUISHING_CASES]]
        letters_of = dict.fromkeys(fitting, "")
        for index in examined:
            outputs = list(self.outputs([single.variant for single in fitting], index))
            letters = mistake_pairs.case_letters(outputs, self.expected[index], observed[index])
            for single, letter in zip(fitting, letters, strict=True):
                letters_of[single] += letter
        observed_letters = "".join(RIGHT if i in right else OBSERVED for i in examined)
        return mistake_pairs.in_order(mistake_pairs.likely(singles, letters_of, observed_letters, self.max_pairs))

    @cached_property
    def max_pairs(self) -> int:
        """Maximum number of pairs to try, lower for answers with many function calls. Measured ``in_isolation``."""
        return MAX_PAIR_CALLS // max(self._count_calls(), 1)

    def _count_calls(self) -> int:
        """Count the function calls that the reference in steps makes on the first case."""
        steps, n_calls, before = self.exercise.steps, 0, sys.getprofile()

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal n_calls
            n_calls += event in ("call", "c_call")

        if steps is None:
            return 0
        right = steps.until(steps.last)
        self._output(right, 0)  # do one-time work before counting
        sys.setprofile(count)
        try:
            self._output(right, 0)
        finally:
            sys.setprofile(before)
        return n_calls

    def _forms(self, single: Single) -> Sequence[str]:
        """Return the form of a mistake's output in each case whose outline is stored."""
        return single.forms or [outline(self.output(single.variant, i)).form for i in catalog_of(self.exercise).cases]

    def run(self, version: AnyVariant) -> Sequence[Observation]:
        """Return the full observations of a variant on all cases."""
        if version not in self._runs:
            self._runs[version] = [self.run_case(version, index) for index in range(len(self.cases))]
        return self._runs[version]

    def run_case(self, version: AnyVariant, index: int) -> Observation:
        """Return the full observations of a variant on one case."""
        if (version, index) not in self._case_runs:
            attempt, case = version.attempt if isinstance(version, Variant) else version, self.cases[index]
            self._case_runs[version, index] = self.normalized([observe(attempt, case)], [case])[0]
        return self._case_runs[version, index]

    def output(self, version: AnyVariant, index: int) -> Observation:
        """Return only the output, the token frequencies or the error of a variant's first call on a case.

        This is much faster than a full observation and rules out most mistakes. If a full observation is cached, it is
        returned instead. Call this method ``in_isolation``.
        """
        if (cached := self._case_runs.get((version, index))) is not None:
            return cached
        if (version, index) not in self._outputs:
            self._outputs[version, index] = self._output(version, index)
        return self._outputs[version, index]

    def varies(self, version: AnyVariant) -> bool:
        """Return whether a variant's output differs from call to call. Call this method ``in_isolation``."""
        last = len(self.cases) - 1  # in the largest case, random outputs are never equal by chance
        return observation_distance(self._output(version, last), self._output(version, last)) > 1

    def reference_is_random(self, index: int) -> bool:
        """Return whether the reference draws random numbers on a case. If it does, an attempt may also be random."""
        case = self.cases[index]
        before = torch.get_rng_state()
        with contextlib.suppress(Exception):
            reference = self.exercise.reference
            attempt: Any = load_module(reference, case) if case.kind == "module" else reference
            before = torch.get_rng_state()
            attempt(*copy_inputs(case.inputs).values(), **copy_inputs(case.keywords))
        return not torch.equal(before, torch.get_rng_state())

    def outputs(self, variants: Iterable[Variant], index: int) -> Iterator[Observation]:
        """Yield the output of each variant, sharing intermediate values and caching outputs."""
        common = None
        for variant in variants:
            if (cached := self._outputs.get((variant, index))) is not None:
                yield cached
                continue
            if common is None or not common.is_unchanged():
                common = SharedEvaluation(self._given(index), self._module(index) if variant.of.is_module else None)
            observation = self._output(variant, index, common)
            is_small = count_numbers(observation.get("output")) <= MAX_CACHED_NUMBERS
            if is_small and len(self._outputs) < MAX_CACHED_OUTPUTS:
                self._outputs[variant, index] = observation
            yield observation

    def _given(self, index: int) -> dict[str, Any]:
        return copy_inputs({**call_inputs(self.cases[index]), **self.cases[index].keywords})

    def _output(self, version: AnyVariant, index: int, common: SharedEvaluation | None = None) -> Observation:
        case = self.cases[index]
        given = common.given if common else self._given(index)
        inputs = [given[name] for name in case.inputs]
        keywords = {name: given[name] for name in case.keywords}
        if case.kind == "sampler":
            keywords["generator"] = seeded(0)  # a new generator for each call, because drawing changes its state
        observation: dict[str, Any]
        try:
            if isinstance(version, Variant):  # variants change only the forward pass, so they can share a module
                module = [common.module if common else self._module(index)] if version.of.is_module else []
                bound = (common and common.bound) or version.of.arguments.bind(*module, *inputs, **keywords)
                if common and case.kind != "sampler":
                    common.bound = bound
                returned = version.evaluate(bound, common.shared if common else None)
            else:
                attempt = load_module(version, case) if case.kind == "module" else version
                if isinstance(attempt, dict):
                    return cast(Observation, {"parameters": attempt})
                returned = attempt(*inputs, **keywords)
            observation = (
                count_samples(returned, case) if case.kind == "sampler" else {"output": to_plain_data(returned)}
            )
        except Exception as error:
            observation = {"error": {"type": type(error).__name__, "message": message_of(error)}}
        return self.normalized([cast(Observation, observation)], [case])[0]

    def _module(self, index: int) -> Any:
        if index not in self._modules:
            self._modules[index] = load_module(self.exercise.reference, self.cases[index])
        return self._modules[index]

    def normalized(self, observed: Sequence[Observation], cases: Sequence[Case] | None = None) -> list[Observation]:
        """Convert outputs and gradients to the form in which the exercise compares them."""
        found: list[Observation] = []
        for case, observation in zip(self.cases if cases is None else cases, observed, strict=False):
            for output in ("output", "output_in_training"):
                if output in observation:
                    compared = self.exercise.normalize(cast(Any, observation)[output], case)
                    observation = cast(Observation, {**observation, output: compared})
            gradients: object = observation.get("gradients")
            if self.exercise.distributions and isinstance(gradients, Mapping):
                names = self.exercise.distributions
                projected = {name: _without_change_of_row_sums(gradients.get(name)) for name in names}
                observation = cast(Observation, {**observation, "gradients": {**gradients, **projected}})
            found.append(observation)
        return found


@lru_cache(maxsize=40)  # compiles the code of generated mistakes only once for all seeds
def _generated_mistakes(exercise: Exercise) -> Mapping[AnswerEdit, GeneratedMistake]:
    steps, messages = exercise.steps, exercise.messages
    return {edit: GeneratedMistake(edit, steps, messages) for edit in catalog_of(exercise).edits} if steps else {}


@lru_cache(maxsize=40)
def _pairs(exercise: Exercise) -> Sequence[Pair]:
    return mistake_pairs.in_order(itertools.combinations(_written(exercise), 2))


@lru_cache(maxsize=40)
def _likely_pairs(exercise: Exercise) -> Sequence[Pair]:
    likely = []
    for single in _singles(exercise):
        mistake = single.mistake
        if not isinstance(mistake, GeneratedMistake) or mistake.edit.weight <= LIKELY_WEIGHT:
            likely.append(single)
    return mistake_pairs.in_order(itertools.combinations(likely, 2))[:MAX_LIKELY_PAIRS]


@lru_cache(maxsize=40)
def _written(exercise: Exercise) -> Sequence[Single]:
    return mistake_pairs.written(exercise.mistakes, exercise.steps) if exercise.steps else ()


@lru_cache(maxsize=40)
def _singles(exercise: Exercise) -> Sequence[Single]:
    """Return the teacher's mistakes followed by the generated mistakes.

    A generated mistake counts as likely and is listed early if a teacher has written a message for it, or if it is a
    wrong choice in a step that only makes a choice. Mistakes that crash are omitted because a crash hides any other
    mistake.
    """
    mistakes = [mistake for edit, mistake in _generated_mistakes(exercise).items() if not edit.crashes]
    mistakes.sort(key=lambda mistake: not (mistake.has_own_words or mistake.is_choice))
    generated = []
    for rank, mistake in enumerate(mistakes, len(exercise.mistakes)):
        forms = [case_outline.form for case_outline in mistake.edit.outlines]
        has_own_words = mistake.has_own_words
        generated.append(Single(mistake, 0, rank, is_generated=True, has_own_words=has_own_words, forms=forms))
    return [*_written(exercise), *generated]


def _without_change_of_row_sums(gradient: Any) -> Any:
    """Remove the component of a gradient that would change the row sums."""
    if isinstance(gradient, Tensor) and gradient.is_floating_point() and gradient.dim():
        return gradient - gradient.mean(dim=-1, keepdim=True)
    return gradient


@contextlib.contextmanager
def in_isolation() -> Iterator[None]:
    """Suppress output and warnings inside the block, and restore the global state afterwards."""
    with default_torch_state(), suppressed_output(), suppressed_native_output(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@lru_cache(maxsize=40)  # two seeds for each exercise of two lessons, a few megabytes each
def behavior(exercise: Exercise, seed: int) -> Behavior:
    """Return an exercise's behavior on the cases for a seed, from a cache if possible."""
    with default_torch_state():
        return Behavior(exercise, list(exercise.cases(seed)))

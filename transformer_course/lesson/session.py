"""A learner's session: it checks attempts, and stores the parts in use and the hints given so far."""

import contextlib
import difflib
import inspect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from torch import nn

from transformer_course.checking.expected_behavior import Behavior, behavior
from transformer_course.checking.hints import GENERAL_HINTS, HintsGiven, hints_about
from transformer_course.checking.judge import judge
from transformer_course.checking.message_panel import Panel, code_block
from transformer_course.checking.side_effects import changed_arguments
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.exercises import NOTEBOOKS, exercise_names
from transformer_course.lesson.predictions_made import PredictionsMade
from transformer_course.lesson.sign_of_life import sign_of_life
from transformer_course.lesson.speed import is_slow, slowdown
from transformer_course.locating.fault_location import add_location, can_be_located
from transformer_course.running.case import Case
from transformer_course.running.instrumentation import CannotTrace
from transformer_course.running.introspect import exercise_name, functions_of
from transformer_course.running.isolation import suppressed_output
from transformer_course.running.observation import Observation
from transformer_course.running.observe import observe_all
from transformer_course.running.parts import Parts
from transformer_course.running.time_limit import MAX_IDLE_S, SECONDS_PER_CHECK
from transformer_course.running.trace import Traced
from transformer_course.workspace import saved_parts
from transformer_course.workspace.progress import record_messages, record_pass

SEED = 0
"""Random seed for the cases in lessons. The grader uses other seeds."""
IN_TRAINING = {"output_in_training", "later_in_training"}
"""The keys of an observation that describe a module in train mode."""

MISSING_PARAMETER = re.compile(r"the parameter `.*` is missing; yours are .*")
"""The part of a message that names a missing parameter. In a bug hunt, this part would reveal the bug."""


class Session:
    """The state of one lesson.

    Args:
        exercises: The exercises by name.
        shell: The IPython shell that runs the learner's cells, or None outside a notebook.
    """

    def __init__(self, exercises: Mapping[str, Exercise], shell: Any = None) -> None:
        self.exercises, self.shell = exercises, shell
        self.seconds = SECONDS_PER_CHECK
        """Limit on the CPU time for all cases of one check, in seconds."""
        self.max_idle = MAX_IDLE_S
        """Limit on the wall-clock time for code that only waits, in seconds."""
        self.parts = Parts(lambda name: exercises[name].reference)
        self.hints_given: dict[str, HintsGiven] = {}
        self.not_passed: dict[str, Any] = {}
        """The last checked attempt at each exercise, unless it passed."""
        self.predictions = PredictionsMade(shell)
        self.has_explained_not_kept = False
        self.n_checking = 0
        """Number of running checks, which is more than one if an attempt calls ``check``."""

    def check(self, attempt: Any, name: Any = None, save: bool = True) -> Verdict:
        """Return the verdict on an attempt, which may be any object. Later cells use a right attempt as a part.

        If ``save`` is False, as in a bug hunt, a right answer changes neither the parts nor the record. In this case, a
        module is judged only in eval mode, because the fixed code may use dropout in training.
        """
        return self._checked(attempt, name, save, in_training=save)

    def check_only(self, attempt: Any, name: Any = None) -> Verdict:
        """Return the same verdict as ``check`` without changing parts or the record."""
        return self._checked(attempt, name, save=False, in_training=True)

    def _checked(self, attempt: Any, name: Any, save: bool, in_training: bool) -> Verdict:
        called = None
        self.n_checking += 1
        try:
            called = exercise_name(attempt, name)
            exercise = self.exercises.get(called or "")
            verdict = (
                _unknown(attempt, called) if exercise is None else self._check(exercise, attempt, save, in_training)
            )
        except Exception as error:  # an exception would stop the whole lesson
            verdict = Verdict(called or "check", "crashed", f"The check itself failed: {type(error).__name__}: {error}")
        finally:
            self.n_checking -= 1
        if not self.n_checking:
            self._restart_hints(verdict)
            self.not_passed.pop(verdict.exercise, None)
            if not verdict.passed:
                self.not_passed[verdict.exercise] = attempt
        return verdict

    def hint(self, attempt: Any, name: Any = None) -> Panel:
        """Return the next hint for an attempt's mistake or for its exercise, and after the last hint the solution.

        The hints start over when a check finds a different mistake or a different status.
        """
        with suppressed_output():
            verdict = self.check_only(attempt, name)
        exercise = self.exercises.get(verdict.exercise)
        if exercise is None:
            return Panel("No such exercise", _unknown(attempt, exercise_name(attempt, name), "hint").message, "help")
        if verdict.passed:
            return Panel(f"{exercise.name}: passed, so there is no hint", exercise.verified, "help")
        mistake_hints = verdict.hints or hints_about(exercise, verdict.mistake)
        hints = exercise.hints if mistake_hints is None else mistake_hints
        given = self.hints_given[exercise.name]
        if given.n_given == len(hints):
            given.comes_next = ""
            return _solution(exercise, "there are no more hints; a solution")
        given.n_given += 1
        message, kind = hints[given.n_given - 1], "hint" if mistake_hints is not None else "general hint"
        if mistake_hints is None and given.n_given == 1:
            message = "\n".join([*_before_general_hints(verdict), message])
        if given.n_given == len(hints):
            message += "\nThat was the last hint. Ask again to see a solution."
            given.comes_next = "solution"
        return Panel(f"{exercise.name}: {kind} {given.n_given} of {len(hints)}", message, "help")

    def solution(self, attempt: Any, name: Any = None) -> Panel:
        """Return a solution of the exercise that an attempt answers."""
        called = exercise_name(attempt, name)
        exercise = self.exercises.get(called or "")
        if exercise is None:
            return Panel("No such exercise", _unknown(attempt, called, "solution").message, "help")
        return _solution(exercise, "a solution")

    def _check(self, exercise: Exercise, attempt: Any, save: bool, in_training: bool) -> Verdict:
        if isinstance(exercise.reference, type) and not (isinstance(attempt, type) and issubclass(attempt, nn.Module)):
            return Verdict(exercise.name, "wrong", f"{exercise.name} must be a subclass of `nn.Module`.")
        if issubclass(type(attempt), type) and not isinstance(exercise.reference, type):
            arguments = ", ".join(inspect.signature(exercise.reference).parameters)
            report = f"You wrote a class. {exercise.name} should be a function: `def {exercise.name}({arguments}):`."
            return Verdict(exercise.name, "wrong", report)
        if self.parts.is_blocked(exercise.name):
            return Verdict(exercise.name, "wrong", "Your code checks itself: it is being checked already.")
        known = behavior(exercise, SEED)
        with self.parts.without(exercise.name):
            with sign_of_life(self.seconds):
                observed = observe_all(attempt, list(known.cases), self.seconds, math.inf, self.max_idle)
            if not in_training:
                observed = [_as_in_eval_mode(*pair) for pair in zip(observed, known.expected, strict=False)]
            verdict = judge(exercise, SEED, observed, self.exercises.keys() - {exercise.name})
            if not verdict.passed:
                self._record_messages(verdict)
                if not in_training:  # in a bug hunt, finding the line is the task
                    return replace(verdict, message=MISSING_PARAMETER.sub("the parameters are wrong.", verdict.message))
                return self._located(verdict, known, attempt, observed)
            if not save:
                return replace(verdict, message=f"All cases passed. `parts.{exercise.name}` is unchanged.")
            remark = self._remark(attempt, exercise, known.cases[-1], observed[-1], known.expected[-1])
        if remark or observed[0].get("remarks", {}).get("reads"):
            self.parts.remove(exercise.name)
            remark += " The lessons continue with the library's version."
        else:
            self.parts.add(exercise.name, attempt)
            problem = saved_parts.save_part(exercise.name, attempt, self.shell)
            remark = f"\nNote: your answer could not be saved for later lessons: {problem}." if problem else ""
            remark = remark or self._not_kept_remark()
        remark += self._record(exercise)
        return replace(verdict, message=verdict.message + remark)

    def _restart_hints(self, verdict: Verdict) -> None:
        """Make the hints start over, unless the last verdict on this exercise was the same."""
        found = verdict.hints or verdict.mistakes[:1] or (verdict.status,)
        given = self.hints_given.get(verdict.exercise)
        if given is None or given.verdict != found:
            self.hints_given[verdict.exercise] = HintsGiven(found)

    def _record(self, exercise: Exercise) -> str:
        """Record for the home page that an exercise has passed. Return a remark if recording fails, otherwise ""."""
        try:
            if folder := saved_parts.record_folder(self.shell):
                record_pass(folder, exercise.name)
        except OSError as error:
            return f"\nNote: the home page will not show this result: {error}."
        return ""

    def _record_messages(self, verdict: Verdict) -> None:
        """Record the check's report on a failed attempt, so that instructors can count common mistakes."""
        if verdict.status == "not_started":
            return
        with contextlib.suppress(OSError):  # if recording fails, the learner loses nothing
            if folder := saved_parts.record_folder(self.shell):
                record_messages(folder, verdict.exercise, verdict.mistakes or (verdict.status,))

    def _not_kept_remark(self) -> str:
        """Return the reason why nothing is saved in this session, or "" if there is none or it was given before."""
        if self.has_explained_not_kept or not (why := saved_parts.explain_no_folder(self.shell)):
            return ""
        self.has_explained_not_kept = True
        return f"\n{why}"

    def _located(self, verdict: Verdict, known: Behavior, attempt: Any, observed: Sequence[Observation]) -> Verdict:
        """Add the location of the mistake to a verdict if the location is certain."""
        last = observed[-1]
        if not can_be_located(verdict) or ("error" in last and last["error"]["type"] == "TookTooLong"):
            return verdict
        try:
            return add_location(
                verdict, known, Traced(attempt, self.exercises), changed_arguments(observed, known.expected)
            )
        except CannotTrace:
            return verdict

    def _remark(
        self, attempt: Any, exercise: Exercise, largest: Case, observation: Observation, right: Observation
    ) -> str:
        """Return a remark if a right answer should not be used for training, because it cuts gradients or is slow."""
        observed_remarks, right_remarks = observation.get("remarks", {}), right.get("remarks", {})
        if right_remarks.get("differentiable") and not observed_remarks.get("differentiable"):
            return (
                "\nNote: no gradient passes through your version. (These block it: `.item()`, `.tolist()`, "
                "`.numpy()`, `.detach()`, `torch.tensor`, `torch.no_grad`.)"
            )
        factor = slowdown(attempt, exercise.reference, largest, observed_remarks["seconds"], self.seconds)
        if not is_slow(factor):
            return ""
        return f"\nYour code is right, but slow: it takes {factor:.0f} times as long as the reference."


def _before_general_hints(verdict: Verdict) -> list[str]:
    """Return lines that introduce the general hints and explain that they are not about the attempt's mistake."""
    if verdict.status == "not_started":
        return []
    if verdict.mistake:
        return ["The check's message describes the error. There are no further hints about it.", GENERAL_HINTS]
    return ["The check recognizes no known mistake in your code. Read its message first.", GENERAL_HINTS]


def _as_in_eval_mode(observation: Observation, right: Observation) -> Observation:
    """Return an observation with the right outputs in train mode, so that only eval mode is judged."""
    entries = cast(Mapping[str, Any], right).items()
    return cast(
        Observation,
        {**observation, **{key: value for key, value in entries if key in IN_TRAINING and key in observation}},
    )


def _solution(exercise: Exercise, title: str) -> Panel:
    return Panel(f"{exercise.name}: {title}", code_block(exercise.solution), "help")


def _unknown(attempt: Any, called: str | None, function: str = "check") -> Verdict:
    """Return a verdict about an unknown exercise, which explains how to pass the name of the exercise."""
    if called is None:
        message = f"Pass the function or class itself, not its result (got a value of type {type(attempt).__name__})."
    else:
        close = [*difflib.get_close_matches(called, _names_of_lesson(attempt), n=2, cutoff=0.4), "exercise"]
        own = own if (own := exercise_name(attempt, None) or "").isidentifier() else "attempt"
        variants = " or ".join(f'`{function}({own}, "{exercise}")`' for exercise in close[:-1] or close)
        message = f"No exercise is called {called}. Name the exercise that your code answers: {variants}."
    return Verdict(called or function, "wrong", message)


def _names_of_lesson(attempt: Any) -> list[str]:
    """Return the exercises of the attempt's lesson. The names from other lessons would spoil these lessons."""
    global_names = {name for function in functions_of(attempt) for name in function.__globals__}
    return [name for names in map(exercise_names, NOTEBOOKS) if global_names.intersection(names) for name in names]

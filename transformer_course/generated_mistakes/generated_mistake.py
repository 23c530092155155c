"""A generated mistake: an answer with one edit, and the message about it.

Generated mistakes are stored as source code and compiled on first use. Most generated mistakes are never compiled.
"""

import ast
import inspect
import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import torch

from transformer_course.exercise import Mistake, Wording, capitalized
from transformer_course.generated_mistakes.code_match import is_in_code
from transformer_course.generated_mistakes.wording import Words, words
from transformer_course.steps import InSteps, Step, Variant, needs

MAX_MESSAGE_WORDS = 32
"""Maximum number of words in a composed message. A longer message drops the advice if it includes a consequence."""


@dataclass(frozen=True, eq=False)
class AnswerEdit:
    """An edit to a correct answer.

    Args:
        step: The edited step or argument.
        kind: The kind of edit, which is a key of the templates in ``wording``.
        old: The original code, or "" if it is the whole step.
        new: The code that replaces it.
        other: Another step or value involved in the edit.
        weight: How far-fetched the edit is; 1 is likely.
        code: The new code of each changed step or argument.
        outlines: Outlines of the mistake's results in some cases drawn with the lesson's seed; see ``catalog``.
        readings: Other likely generated mistakes that behave the same but edit a different step.
    """

    step: str
    kind: str
    old: str = ""
    new: str = ""
    other: str = ""
    weight: float = 1.0
    code: Mapping[str, str] = field(default_factory=dict)
    outlines: Sequence[Any] = ()
    readings: Sequence["AnswerEdit"] = ()

    @property
    def name(self) -> str:
        """Name of the mistake in verdicts."""
        return f"{self.kind}_{self.step}"

    @property
    def rank(self) -> tuple[float, int, int]:
        """Sort key that puts likely mistakes first and, among equally likely mistakes, the shortest code."""
        return round(self.weight, 2), len(self.code), len(self.new)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of this mistake in an exercise's ``messages``: its name with the code, or its name alone.

        The code is the new code of the edited expression or, where several edits share it, of the whole step. There are
        no keys if the mistake occurs only when an option is given, because the messages don't mention that condition.
        """
        if any(re.match(r"if \w+ is None:\n", body) for body in self.code.values()):
            return ()
        of_step = [f"{self.name}: {one_line(self.code[self.step])}"] if list(self.code) == [self.step] else []
        return tuple(dict.fromkeys((*of_step, f"{self.name}: {self.new}", self.name)))

    @property
    def crashes(self) -> bool:
        """Whether the mistake crashes in all stored cases."""
        return bool(self.outlines) and all(outline.form.startswith("error ") for outline in self.outlines)

    @property
    def result_edit(self) -> dict[str, str]:
        """The edit as an operation on the step's result, or {} if the edit is not an operation on the result.

        An edit to the result can be combined with another mistake in the same step.
        """
        is_whole = list(self.code) == [self.step] and not self.code[self.step].startswith("if ")
        return {self.step: self.new.replace("§", self.step)} if is_whole and "§" in self.new else {}


class GeneratedMistake(Mistake):
    """A generated mistake for an exercise, with its message and hints.

    Args:
        edit: The edit to the answer.
        steps: The correct answer.
        messages: Messages written by a teacher, keyed by the name of a generated mistake. If the message applies to
            only one mistake with that name, the key includes the code.
    """

    def __init__(self, edit: AnswerEdit, steps: InSteps, messages: Mapping[str, str | Wording] | None = None) -> None:
        self.edit, self.steps, self.name = edit, steps, edit.name
        own = next((messages[key] for key in edit.keys if key in messages), None) if messages else None
        self._own_words = Wording(own) if isinstance(own, str) else own

    @property
    def has_own_words(self) -> bool:
        """Whether a teacher wrote a message for this mistake."""
        return self._own_words is not None

    @property
    def is_choice(self) -> bool:
        """Whether the edited step takes no input and only chooses something, for example a dimension."""
        step = self.steps.steps.get(self.edit.step)
        return step is not None and not needs(step)

    @cached_property
    def variants(self) -> Sequence[Variant]:  # type: ignore[override]
        """The answer with this mistake."""
        return (variant_of(self.steps, self.edit.result_edit or self.edit.code),)

    @cached_property
    def _words(self) -> Words:
        return words(self.steps, self.edit)

    @property
    def summary(self) -> str:  # type: ignore[override]
        """What the learner does, as a clause in the second person."""
        if self._own_words is None:
            return self._words.summary
        return self._own_words.summary or _first_clause(self._own_words.message) or self._words.summary

    @property
    def advice(self) -> str:
        """A composed sentence or question about the correct code, or "" if there is none."""
        advice = self._words.advice
        if not advice or self._own_words:
            return ""
        return capitalized(advice) if advice.endswith("?") else f"{capitalized(advice)}."

    @property
    def message(self) -> str:  # type: ignore[override]
        """The message for an attempt with no other mistake."""
        return self.message_with("")

    def message_with(self, consequence: str) -> str:
        """Return the message with a sentence about the consequence, unless a teacher wrote the message."""
        if self._own_words:
            return self._own_words.sentence
        clause = f"{capitalized(self.summary)}."
        is_long = len(f"{clause} {consequence} {self.advice}".split()) > MAX_MESSAGE_WORDS
        is_general = self.advice.startswith("Your output should depend")
        advice = "" if consequence and (is_long or is_general) else self.advice
        refers_back = advice.startswith("The formula")  # as in "You square x. The formula doesn't."
        return " ".join(filter(None, (clause, advice, consequence) if refers_back else (clause, consequence, advice)))

    def reading(self, step: str = "", code: str = "") -> "GeneratedMistake":
        """Among the mistakes that behave the same, return the mistake that best fits the learner's code.

        Args:
            step: The step known to be wrong, or "".
            code: The learner's code, or only the wrong expression if a step is given.
        """
        if self._own_words:
            return self
        others = [GeneratedMistake(one, self.steps) for one in self.edit.readings]
        if step:
            is_there = self.edit.step not in self.steps.steps and re.search(rf"\b{self.edit.step}\b", code)
            at_step = next((one for one in others if one.edit.step == step), self)
            return self if step == self.edit.step or is_there else at_step
        return next((one for one in (self, *others) if one.fits(code)), self)

    def fits(self, code: str) -> bool:
        """Return whether the learner's code contains the code that a composed message quotes."""
        return self._own_words is not None or is_in_code(self.edit, self.steps.arguments.parameters, code)

    def in_effect(self, report: str) -> str:
        """Insert "In effect" into a report about code that behaves like this mistake but looks different."""
        sentence = capitalized(self.summary)
        return report.replace(sentence, f"In effect, y{sentence[1:]}", 1)

    def reworded(self, report: str, other: "GeneratedMistake") -> str:
        """Replace this mistake's message in a report with the message of another mistake that behaves the same."""
        report = report.replace(f"{capitalized(self.summary)}.", f"{capitalized(other.summary)}.", 1)
        return report.replace(f" {self.advice}", f" {other.advice}".rstrip(), 1) if self.advice else report

    @property
    def hints(self) -> Sequence[str]:
        """The teacher's hints, extended to three with a question, the step's result and the step as code."""
        own = tuple(self._own_words.hints) if self._own_words else ()
        return (*own, *(self._words.question, *self.steps.step_hints(self.edit.step))[len(own) :])


def _first_clause(message: str) -> str:
    """Return the first sentence of a teacher's message as a clause, or "" if it is not about the learner's action."""
    sentence = message.partition("\n")[0].partition(". ")[0].rstrip(".")
    is_about_the_step = sentence.startswith(("You ", "Your ")) and not re.search(
        r"\b(?:but|right|correct)\b|[?:]", sentence
    )
    return f"y{sentence[1:]}" if is_about_the_step else ""


def variant_of(steps: InSteps, code: Mapping[str, str]) -> Variant:
    """Return the answer with the given code for some steps or arguments.

    Raises:
        SyntaxError: The code is invalid.
        ValueError: The code uses a value that does not exist.
    """
    return steps.but(**{name: _compiled(steps, name, body) for name, body in code.items()})


def one_line(body: str) -> str:
    """Return the expression if the body of a step is a single return statement, otherwise the body unchanged."""
    return body if "\n" in body else body.removeprefix("return ")


def _compiled(steps: InSteps, name: str, body: str) -> Step:
    inputs = used_names(body, steps.known)
    lines = body.splitlines() if body.startswith(("return ", "if ")) or "\n" in body else [f"return {body}"]
    scope = _scope(steps.steps.get(name))
    exec("\n    ".join([f"def {name}({', '.join(inputs)}):", *lines]), scope)
    step: Step = scope.pop(name)
    return step


def used_names(code: str, known: Container[str]) -> list[str]:
    """List the known names that the code uses and does not define itself."""
    nodes = list(ast.walk(ast.parse(code)))
    defined = {node.arg for node in nodes if isinstance(node, ast.arg)}
    defined |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    read = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return list(dict.fromkeys(name for name in read if name in known and name not in defined))


@cache
def _scope(step: Step | None) -> dict[str, Any]:
    """Return the globals for a step's code: the names in its module, plus the modules that every lesson imports."""
    if step is None:
        return {"torch": torch, "math": math}
    closure = inspect.getclosurevars(step).nonlocals
    return {**getattr(step, "__globals__", {}), **closure, "torch": torch, "math": math}

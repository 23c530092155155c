"""Describe values and steps with nouns and imperatives that make sense without context."""

import re

from transformer_course.generated_mistakes.phrases import action, gerund, minus, parse, refers_back
from transformer_course.steps import InSteps

MAX_NOUN_WORDS = 9
"""Maximum number of words in a noun that is used inside a phrase."""
CLAUSES = ("whether ", "which ", "how ", "where ", "for ", "the result of “")
"""Beginnings of nouns that are in fact clauses. ``StepWords.noun`` replaces them with "the result of …"."""

AFTER_HEAD_NOUN = (
    "of|that|in|on|for|to|by|from|where|after|before|with|as|is|at|along|over|per|between|under|into|without"
)
"""Words that can follow the head noun, which determines whether a noun phrase is plural."""


class StepWords:
    """Nouns and imperatives for the values and steps of an answer."""

    def __init__(self, steps: InSteps) -> None:
        self.steps = steps

    def noun(self, name: str) -> str:
        """Return a value's short name, or else its noun without the explanation, or "" if it has neither."""
        if name not in self.steps.known or name == "self":
            return ""
        if short := self.steps.short_name(name):
            return short
        full = re.sub(r"^its ", "the ", self.steps.noun(name))
        if full.startswith(CLAUSES):
            return f"the result of {gerund(self.imperative(name))}"
        brief = without_explanation(full)
        others = {without_explanation(self.steps.noun(other)) for other in self.steps.steps if other != name}
        return brief if brief not in others else re.sub(r"^([^,(]+), ((?:\w+ ?){1,4})$", r"\1 (\2)", full)

    def plain_noun(self, name: str) -> str:
        """Return the noun of a value if it is short enough for a phrase, or ""."""
        noun = self.noun(name)
        is_long = len(noun.split()) > MAX_NOUN_WORDS or (noun.startswith("what ") and len(noun.split()) > 5)
        return "" if is_long or noun.startswith("the result of ") else noun

    def imperative(self, name: str) -> str:
        """Return an imperative that makes sense on its own: "subtract the mean from x", not "subtract it"."""
        if name not in self.steps.steps:
            return f"use {self.noun(name)}"
        written = self.steps.describe(name).partition(":")[0]
        if refers_back(written):
            code = parse(self.steps.expression(name) or "")
            return action(code, self.plain_noun) or self._compute(name)
        head, comma, rest = written.partition(", ")
        return head if comma and " and " not in f" {rest}" and len(head.split()) > 2 else written

    def _compute(self, name: str) -> str:
        """Build an imperative from the noun of a value, such as "compute the mean"."""
        noun = self.steps.short_name(name) or without_explanation(self.steps.noun(name))
        if noun.startswith("the result of “"):
            return self.steps.describe(name).partition(":")[0]
        is_clause = noun.startswith(("whether ", "which ", "how ", "what ", "for "))
        return f"{'work out' if is_clause else 'compute'} {noun}"


def without_explanation(noun: str) -> str:
    """Cut a noun at the first comma or parenthesis, unless the comma belongs to a list."""
    return noun if re.match(r"[^,(]+, [\w`]+ and ", noun) else re.split(r", | \(", noun)[0]


def is_plural(noun: str) -> bool:
    """Return whether an English noun phrase is plural."""
    noun = re.sub(r"`(\w+)` (?=\w+s\b)|(?<=s)(?: \w_\w)+$", "", noun)
    head = re.split(rf"(?<=s) \w+ed\b| (?:{AFTER_HEAD_NOUN})\b|[,`(]", noun)[0].split()[-1:]
    return (
        bool(head)
        and not noun.startswith("what ")
        and (head[0].endswith("s") or noun.startswith("all the "))
        and not head[0].endswith(("ss", "axis", "bias", "is"))
    )


def tidy(text: str) -> str:
    """Remove double spaces and stray commas from a filled template and use real minus signs outside code."""
    parts = re.sub(r",(?=[,.:?!;]|$)", "", re.sub(r"\s+", " ", text).strip()).split("`")
    parts[::2] = map(minus, parts[::2])
    return "`".join(parts)
